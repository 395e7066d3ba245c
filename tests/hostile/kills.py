"""Commands killed at random moments, alone or with their workers.

Nothing may be left behind, and `resume` must lose nothing.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from results_file import check
from sandbox import HANG_S, Sandbox, children, descendants, kill
from tally import Tally

MATRICES = (
    "-m pipe,shm-ring -b 64,4096 --total 1MB --repetitions 4",
    "-m fifo,unix-stream-named -w stream,round-trip -b 4096 --total 100kB --repetitions 3",
    "-m file-ref,mmap-file --mode 2thread,2proc -b 4096 --total 1MB --repetitions 3",
    "-m iceoryx2-pubsub,iceoryx2-reqres --mode 2thread,2proc -b 4096 --total 1MB --repetitions 2",
    "-m sysv-mq,sysv-sem,sysv-shm -w round-trip -b 64 --total 64kB --repetitions 3",
    "-m posix-mq,posix-sem,mmap-queue -w round-trip -b 64 --total 64kB --repetitions 3",
    "-m pipe,tcp --mode 1thread,2thread -b 4096 --total 100kB --repetitions 4",
    "-m zeromq,grpc,ipc-channel -w round-trip -b 64 --total 64kB --repetitions 2",
)
TARGETS = ("command", "worker", "both", "both", "both", "all", "interrupted")


def kills(program: Path, count: int, seed: int) -> Tally:
    """Kills `count` commands."""
    tally, draw = Tally("kills"), random.Random(seed)
    lasts: dict[str, float] = {}
    for number in range(count):
        matrix = MATRICES[number % len(MATRICES)]
        with Sandbox(program) as sandbox:
            if matrix not in lasts:
                begun = time.monotonic()
                sandbox.run(["run", *matrix.split(), "--out", str(sandbox.out("whole.jsonl"))])
                lasts[matrix] = time.monotonic() - begun
            target, moment = draw.choice(TARGETS), draw.uniform(0, lasts[matrix])
            words = f"kill {number} of seed {seed}: {target} after {moment:.4f} s of {matrix}"
            kill_and_resume(sandbox, tally, matrix.split(), (target, moment, words))
    return tally


def kill_and_resume(sandbox: Sandbox, tally: Tally, matrix: list[str], how: tuple[str, float, str]) -> None:
    """Kills one command, looks for leftovers, and resumes its file."""
    target, moment, words = how
    arguments = ["run", *matrix, "--seed", "7", "--timeout", "60", "--out", str(sandbox.out())]
    started = sandbox.start(arguments)
    time.sleep(moment)
    kill_target(started.pid, target)
    ended = sandbox.finish(started, arguments, HANG_S)
    tally.tried += 1
    if ended.is_hung:
        tally.find("hangs", words)
    if target in ("both", "all"):
        # No process was left to clean up: the next start does.
        tally.judge(sandbox.run(["doctor", "--clean"]))
    tally.look_for_leaks(sandbox, words)
    file = check(sandbox.out())
    if file.header is not None:
        tally.judge(sandbox.run(["resume", str(sandbox.out())]), frozenset({0, 4}))
        file = check(sandbox.out())
        if not file.is_complete:
            tally.find("lost_or_duplicated", f"{words}: the resumed file is not complete")
        tally.look_for_leaks(sandbox, f"{words}, resumed")
    for wrong in file.wrong:
        tally.find("lost_or_duplicated", f"{words}: {wrong}")


def kill_target(command: int, target: str) -> None:
    """Signals the command, its worker, both together, or all its descendants too."""
    workers, everyone = children(command), descendants(command)
    if target == "interrupted":
        kill(command, signal.SIGINT)
        return
    victims = {
        "command": [command],
        "worker": workers,
        "both": [command, *workers],
        "all": [command, *everyone],
    }[target]
    # All are stopped first, so that none has time to clean up after another.
    for pid in victims if len(victims) > 1 else ():
        kill(pid, signal.SIGSTOP)
    for pid in victims:
        kill(pid)
    os.sched_yield()
