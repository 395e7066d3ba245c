"""Commands killed at random moments, alone or with their workers.

Nothing may be left behind, and `resume` must lose nothing.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from place import HANG_S, Place, children, descendants, kill
from results_file import check
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
WHOM = ("command", "worker", "both", "both", "both", "all", "interrupted")


def kills(program: Path, count: int, seed: int) -> Tally:
    """Kills `count` commands."""
    tally, draw = Tally("kills"), random.Random(seed)
    lasts: dict[str, float] = {}
    for number in range(count):
        matrix = MATRICES[number % len(MATRICES)]
        with Place(program) as place:
            if matrix not in lasts:
                begun = time.monotonic()
                place.run(["run", *matrix.split(), "--out", str(place.out("whole.jsonl"))])
                lasts[matrix] = time.monotonic() - begun
            whom, moment = draw.choice(WHOM), draw.uniform(0, lasts[matrix])
            words = f"kill {number} of seed {seed}: {whom} after {moment:.4f} s of {matrix}"
            kill_and_resume(place, tally, matrix.split(), (whom, moment, words))
    return tally


def kill_and_resume(place: Place, tally: Tally, matrix: list[str], how: tuple[str, float, str]) -> None:
    """Kills one command, looks for leftovers, and resumes its file."""
    whom, moment, words = how
    arguments = ["run", *matrix, "--seed", "7", "--deadline", "60", "--out", str(place.out())]
    started = place.start(arguments)
    time.sleep(moment)
    strike(started.pid, whom)
    ended = place.finish(started, arguments, HANG_S)
    tally.tried += 1
    if ended.is_hung:
        tally.find("hangs", words)
    if whom in ("both", "all"):
        # No process was left to clean up: the next start does.
        tally.judge(place.run(["doctor", "--clean"]))
    tally.look_for_leaks(place, words)
    file = check(place.out())
    if file.header is not None:
        tally.judge(place.run(["resume", str(place.out())]), frozenset({0, 4}))
        file = check(place.out())
        if not file.is_complete:
            tally.find("lost_or_doubled", f"{words}: resume did not complete it")
        tally.look_for_leaks(place, f"{words}, resumed")
    for wrong in file.wrong:
        tally.find("lost_or_doubled", f"{words}: {wrong}")


def strike(command: int, whom: str) -> None:
    """Signals the command, its worker, both together, or all its descendants too."""
    workers, everyone = children(command), descendants(command)
    if whom == "interrupted":
        kill(command, signal.SIGINT)
        return
    victims = {
        "command": [command],
        "worker": workers,
        "both": [command, *workers],
        "all": [command, *everyone],
    }[whom]
    # All are stopped first, so that none has time to clean up after another.
    for pid in victims if len(victims) > 1 else ():
        kill(pid, signal.SIGSTOP)
    for pid in victims:
        kill(pid)
    os.sched_yield()
