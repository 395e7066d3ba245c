"""Two users, and two PID namespaces, that share folders and IPC.

Neither may break or remove objects of the other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sandbox import GRACE_S, Finished, Sandbox, system_v
from tally import Tally

OTHER_USER = 1000
MECHANISMS = (
    "fifo",
    "unix-stream-named",
    "mmap-file",
    "file-ref",
    "sysv-mq",
    "sysv-sem",
    "sysv-shm",
    "posix-mq",
    "posix-sem",
    "iceoryx2-pubsub",
    "iceoryx2-reqres",
    "zeromq",
    "grpc",
    "tcp",
)
NEW_PIDS = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


def run_of(mechanism: str, sandbox: Sandbox) -> list[str]:
    """Returns the arguments of a short run of one mechanism, whose names come and go."""
    amount = "-w round-trip -b 64 --total 6kB --repetitions 3 --attempts 1"
    words = f"run -m {mechanism} {amount} --timeout 30 --force --out"
    return [*words.split(), str(sandbox.out())]


def both(
    tally: Tally, mechanism: str, sandboxes: tuple[Sandbox, Sandbox], starts: list[subprocess.Popen[bytes]]
) -> None:
    """Waits for two parallel commands; a failed run of either is a finding."""
    for sandbox, started in zip(sandboxes, starts, strict=True):
        arguments = run_of(mechanism, sandbox)
        ended: Finished = sandbox.finish(started, arguments)
        tally.tried += 1
        tally.judge(ended, frozenset({0}))


def users(program: Path, count: int, _seed: int) -> Tally:
    """Runs commands as root and as another user in parallel, with one folder for temporary files."""
    tally = Tally("two users")
    if os.geteuid() != 0:
        tally.skipped = "needs root"
        return tally
    shared = Path(tempfile.mkdtemp(prefix="hostile-shared-"))
    shared.chmod(0o1777)
    extra = {"TMPDIR": str(shared)}
    theirs = foreign_objects()
    with Sandbox(program) as ours, Sandbox(program) as other:
        other.hand_over(OTHER_USER)
        for number in range(count):
            mechanism = MECHANISMS[number % len(MECHANISMS)]
            starts = [
                ours.start(run_of(mechanism, ours), extra=extra),
                other.start(run_of(mechanism, other), extra=extra, uid=OTHER_USER),
            ]
            both(tally, mechanism, (ours, other), starts)
    if lost := theirs - system_v():
        tally.find("unexpected", f"removed objects of another user: {', '.join(sorted(lost))}")
    remove_objects(theirs)
    if left := [str(path) for path in shared.iterdir()]:
        tally.find("leaks", ", ".join(left[:5]))
    shutil.rmtree(shared, ignore_errors=True)
    return tally


def foreign_objects() -> set[str]:
    """Creates System V objects of the other user, which commands must not touch."""
    before = system_v()
    for option in ("-Q", "-S1", "-M64"):
        subprocess.run(
            ["ipcmk", option],
            user=OTHER_USER,
            group=OTHER_USER,
            extra_groups=[],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return system_v() - before


def remove_objects(objects: set[str]) -> None:
    """Removes those objects."""
    letters = {"msg": "-q", "sem": "-s", "shm": "-m"}
    for words in (one.split() for one in objects):
        subprocess.run(["ipcrm", letters[words[2]], words[3]], check=False, capture_output=True)


def namespaces(program: Path, count: int, _seed: int) -> Tally:
    """Runs commands in two PID namespaces, in which processes have the same IDs."""
    tally = Tally("two PID namespaces")
    if os.geteuid() != 0 or subprocess.run([*NEW_PIDS, "true"], check=False, capture_output=True).returncode:
        tally.skipped = "needs root and unshare --pid"
        return tally
    shared = Path(tempfile.mkdtemp(prefix="hostile-shared-"))
    extra = {"TMPDIR": str(shared)}
    with Sandbox(program) as one, Sandbox(program) as other:
        for number in range(count):
            mechanism = MECHANISMS[number % len(MECHANISMS)]
            starts = [
                sandbox.start(run_of(mechanism, sandbox), wrapper=NEW_PIDS, extra=extra)
                for sandbox in (one, other)
            ]
            both(tally, mechanism, (one, other), starts)
        tally.look_for_leaks(one, f"within {GRACE_S} s")
    if left := [str(path) for path in shared.iterdir()]:
        tally.find("leaks", ", ".join(left[:5]))
    shutil.rmtree(shared, ignore_errors=True)
    return tally
