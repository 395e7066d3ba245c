"""A private folder in which commands run, and detection of their leftovers."""

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

MARK = "IPCPERF_SANDBOX"
# Time without an exit or new results after which a command counts as hung: far longer than one run may take.
# All of its runs together may take longer: 66 runs of 256 MiB, each ended by its timeout of 2 s, took 134 s.
HANG_S = 120.0
# Maximum duration of a command that keeps writing.
MAX_S = 5 * HANG_S
# Interval at which the size of the results is checked.
POLL_S = 1.0
# Time for pending clean-up after a command has ended.
GRACE_S = 10.0
SYSTEM_V = {kind: Path("/proc/sysvipc") / kind for kind in ("msg", "sem", "shm")}
SHARED = (Path("/dev/shm"), Path("/dev/mqueue"))


@dataclass(frozen=True)
class Finished:
    """Exit code and output of a command."""

    arguments: list[str]
    code: int | None
    output: str
    error: str
    seconds: float

    @property
    def is_hung(self) -> bool:
        """Returns whether it had to be killed."""
        return self.code is None


def processes() -> Iterator[int]:
    """Yields all process IDs."""
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def children(pid: int) -> list[int]:
    """Returns the children of all threads of a process."""
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
    """Returns all descendants of `pid`."""
    found = children(pid)
    for one in found:
        found += children(one)
    return found


def system_v() -> set[str]:
    """Returns the System V objects of this IPC namespace, by kind and ID."""
    found = set()
    for kind, path in SYSTEM_V.items():
        rows = path.read_text().splitlines()[1:] if path.exists() else []
        found |= {f"System V {kind} {row.split()[1]}" for row in rows}
    return found


def shared_names() -> set[str]:
    """Returns the names of shared memory and of message queues."""
    return {str(entry) for folder in SHARED if folder.is_dir() for entry in folder.iterdir()}


class Sandbox:
    """A folder with everything that the environment of a command refers to."""

    def __init__(self, program: Path, parent: Path | None = None) -> None:
        """Creates the folders in `parent`, by default in the system's folder for temporary files."""
        self.program = program
        self.root = Path(tempfile.mkdtemp(prefix="hostile-", dir=parent))
        self.root.chmod(0o755)
        self.mark = uuid.uuid4().hex
        for name in ("tmp", "data", "state", "run", "out", "home"):
            (self.root / name).mkdir(mode=0o700)
        self.before = system_v() | shared_names()

    def __enter__(self) -> Sandbox:
        """Returns the sandbox itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kills remaining processes and removes the folder."""
        for pid in self.left_processes():
            kill(pid)
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """Returns the environment of commands in this folder."""
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
        """Returns the path of a results file."""
        return self.root / "out" / name

    def start(
        self,
        arguments: list[str],
        *,
        wrapper: tuple[str, ...] = (),
        uid: int | None = None,
        extra: dict[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Starts the command in a new session, preceded by `wrapper`."""
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
    ) -> Finished:
        """Waits until a command ends; kills it if it hangs."""
        begun = time.monotonic()
        code = self.code(started, limit_s)
        if code is None:
            for pid in (started.pid, *descendants(started.pid)):
                kill(pid)
            started.wait()
        texts = [(self.root / f"log{end}").read_text(errors="replace") for end in (".out", ".err")]
        return Finished(arguments, code, texts[0], texts[1], time.monotonic() - begun)

    def code(self, started: subprocess.Popen[bytes], limit_s: float) -> int | None:
        """Returns the exit code, or None once the command has neither ended nor written for `limit_s`."""
        begun = progressed = time.monotonic()
        written = -1
        while (now := time.monotonic()) - progressed < limit_s and now - begun < MAX_S:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return started.wait(min(POLL_S, limit_s))
            if (size := self.written()) != written:
                written, progressed = size, now
        return None

    def written(self) -> int:
        """Returns the total size of the results files."""
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
    ) -> Finished:
        """Runs the command until it ends."""
        return self.finish(self.start(arguments, wrapper=wrapper, uid=uid, extra=extra), arguments)

    def left_processes(self) -> list[int]:
        """Returns the processes with the mark of this folder in their environment."""
        mark, found = f"{MARK}={self.mark}".encode(), []
        for pid in processes():
            try:
                if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") and not is_zombie(pid):
                    found.append(pid)
            except OSError:
                continue
        return found

    def leftovers(self) -> list[str]:
        """Returns processes and names that did not exist before."""
        left = [f"process {pid}" for pid in self.left_processes()]
        left += [str(path) for path in (self.root / "tmp").iterdir()]
        return left + sorted((system_v() | shared_names()) - self.before)

    def lasting_leftovers(self) -> list[str]:
        """Returns the leftovers that do not disappear within a grace period."""
        end = time.monotonic() + GRACE_S
        while (left := self.leftovers()) and time.monotonic() < end:
            time.sleep(0.02)
        return left

    def forget(self) -> None:
        """Removes the leftovers, so that they are reported only once."""
        for pid in self.left_processes():
            kill(pid)
        for path in (self.root / "tmp").iterdir():
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        self.before = system_v() | shared_names()


def is_zombie(pid: int) -> bool:
    """Returns whether a process has ended and was not yet reaped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Signals a process, which may be gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
