"""A private place in which commands run, and what they may leave there."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

MARK = "IPCPERF_PLACE"
# A command hangs that neither ends nor writes to its results for so long: far longer than one run may
# take. All of its runs together may take longer: 66 runs of 256 MiB, each ended by its deadline of 2 s,
# took 134 s.
HANG_S = 120.0
# One that writes for ever hangs, too.
LONGEST_S = 5 * HANG_S
# How often it is looked whether a command has written.
LOOK_S = 1.0
# What is on its way out when a command has ended may take so long to go.
GRACE_S = 10.0
SYSTEM_V = {kind: Path("/proc/sysvipc") / kind for kind in ("msg", "sem", "shm")}
SHARED = (Path("/dev/shm"), Path("/dev/mqueue"))


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    arguments: list[str]
    code: int | None
    output: str
    error: str
    seconds: float

    @property
    def is_hung(self) -> bool:
        """Whether it had to be killed."""
        return self.code is None


def processes() -> Iterator[int]:
    """Numbers of all processes."""
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def children(pid: int) -> list[int]:
    """Children of all threads of a process."""
    found: list[int] = []
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return found
    for thread in threads:
        try:
            found += [int(word) for word in (thread / "children").read_text().split()]
        except OSError:
            continue
    return found


def descendants(pid: int) -> list[int]:
    """All processes below `pid`."""
    found = children(pid)
    for one in found:
        found += children(one)
    return found


def system_v() -> set[str]:
    """System V objects of this IPC namespace, by kind and id."""
    found = set()
    for kind, path in SYSTEM_V.items():
        rows = path.read_text().splitlines()[1:] if path.exists() else []
        found |= {f"System V {kind} {row.split()[1]}" for row in rows}
    return found


def shared_names() -> set[str]:
    """Names in shared memory and of message queues."""
    return {str(entry) for folder in SHARED if folder.is_dir() for entry in folder.iterdir()}


class Place:
    """A folder with everything that a command reads from its environment."""

    def __init__(self, program: Path, parent: Path | None = None) -> None:
        """Makes the folders; `parent` is where, the system's choice by default."""
        self.program = program
        self.root = Path(tempfile.mkdtemp(prefix="hostile-", dir=parent))
        self.root.chmod(0o755)
        self.mark = uuid.uuid4().hex
        for name in ("tmp", "data", "state", "run", "out", "home"):
            (self.root / name).mkdir(mode=0o700)
        self.before = system_v() | shared_names()

    def __enter__(self) -> Place:
        """Returns the place itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends what is left and removes the folder."""
        for pid in self.left_processes():
            kill(pid)
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """The environment of commands here."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TERM")}
        return kept | {
            MARK: self.mark,
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            "XDG_DATA_HOME": str(self.root / "data"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "XDG_RUNTIME_DIR": str(self.root / "run"),
        }

    def hand_over(self, uid: int) -> None:
        """Gives the folders to another user."""
        for path in (self.root, *self.root.rglob("*")):
            os.chown(path, uid, uid)

    def out(self, name: str = "results.jsonl") -> Path:
        """Path of a results file."""
        return self.root / "out" / name

    def start(
        self,
        arguments: list[str],
        *,
        wrapper: tuple[str, ...] = (),
        uid: int | None = None,
        extra: dict[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Starts the command, in a session of its own; `wrapper` is put before it."""
        log = self.root / "log"
        with (log.with_suffix(".out")).open("wb") as output, (log.with_suffix(".err")).open("wb") as error:
            return subprocess.Popen(
                [*wrapper, str(self.program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=error,
                env=self.environment() | (extra or {}),
                cwd=self.root / "out",
                user=uid,
                group=uid,
                extra_groups=None if uid is None else [],
                start_new_session=True,
            )

    def finish(
        self, started: subprocess.Popen[bytes], arguments: list[str], limit_s: float = HANG_S
    ) -> Ended:
        """Waits for a command's end; one that hangs is killed."""
        begun = time.monotonic()
        code = self.code(started, limit_s)
        if code is None:
            for pid in (started.pid, *descendants(started.pid)):
                kill(pid)
            started.wait()
        texts = [(self.root / f"log{end}").read_text(errors="replace") for end in (".out", ".err")]
        return Ended(arguments, code, texts[0], texts[1], time.monotonic() - begun)

    def code(self, started: subprocess.Popen[bytes], limit_s: float) -> int | None:
        """Exit code of a command, or None once it has neither ended nor written results for `limit_s`."""
        begun = progressed = time.monotonic()
        written = -1
        while (now := time.monotonic()) - progressed < limit_s and now - begun < LONGEST_S:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return started.wait(min(LOOK_S, limit_s))
            if (size := self.written()) != written:
                written, progressed = size, now
        return None

    def written(self) -> int:
        """Bytes in results files."""
        total = 0
        for path in (self.root / "out").iterdir():
            with contextlib.suppress(OSError):
                total += path.stat().st_size
        return total

    def run(
        self,
        arguments: list[str],
        *,
        wrapper: tuple[str, ...] = (),
        uid: int | None = None,
        extra: dict[str, str] | None = None,
    ) -> Ended:
        """Runs the command to its end."""
        return self.finish(self.start(arguments, wrapper=wrapper, uid=uid, extra=extra), arguments)

    def left_processes(self) -> list[int]:
        """Processes that carry the mark of this place."""
        mark, found = f"{MARK}={self.mark}".encode(), []
        for pid in processes():
            try:
                if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") and not is_zombie(pid):
                    found.append(pid)
            except OSError:
                continue
        return found

    def leftovers(self) -> list[str]:
        """Processes and names that are here and were not before."""
        left = [f"process {pid}" for pid in self.left_processes()]
        left += [str(path) for path in (self.root / "tmp").iterdir()]
        return left + sorted((system_v() | shared_names()) - self.before)

    def lasting_leftovers(self) -> list[str]:
        """What is still left after some time in which it may go by itself."""
        end = time.monotonic() + GRACE_S
        while (left := self.leftovers()) and time.monotonic() < end:
            time.sleep(0.02)
        return left

    def forget(self) -> None:
        """Removes what was found left, so that it is reported once."""
        for pid in self.left_processes():
            kill(pid)
        for path in (self.root / "tmp").iterdir():
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        self.before = system_v() | shared_names()


def is_zombie(pid: int) -> bool:
    """Whether a process has ended and waits for its parent."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Signals a process; one that is gone needs none."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
