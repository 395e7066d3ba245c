"""Ten resource limits, and a program that is replaced while it measures."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

from results_file import check
from sandbox import Sandbox
from tally import CODES, Tally

LIMITS = (
    ("--nofile", (3, 4, 6, 8, 12, 16, 24, 40)),
    ("--nproc", (0, 1, 4)),
    ("--stack", (65536, 131072, 262144)),
    ("--fsize", (0, 4096, 65536)),
    ("--as", (20_000_000, 100_000_000, 400_000_000)),
    ("--memlock", (0, 4096)),
    ("--msgqueue", (0, 1000)),
    ("--sigpending", (0, 1)),
    ("--cpu", (1,)),
    ("--data", (1_000_000, 50_000_000)),
)
COMMANDS = (
    "run -m pipe,shm-ring,signal -b 64 --total 64kB --repetitions 1 --timeout 3",
    "run -m tcp,posix-mq,io-uring,iceoryx2-pubsub -w round-trip -b 64 --total 6kB --repetitions 1"
    " --timeout 3",
    "run -m file-ref,mmap-file,fifo,sysv-mq --mode 2thread -b 4096 --total 64kB --repetitions 1 --timeout 3",
    "plan -m all",
    "list mechanisms",
    "doctor",
)
# Signals of the limits themselves: SIGXCPU, then SIGKILL, end a process that exceeds its CPU time. A program
# whose own segments exceed a limit is killed by the kernel while it is loaded (SIGSEGV), before its first
# instruction.
NOT_LOADED = frozenset({-11, 139})
ENDED_BY_LIMIT = {
    "--cpu": frozenset({-24, -9, 137, 152}),
    "--as": NOT_LOADED | {127},
    "--data": NOT_LOADED,
    # The dynamic loader opens files to find its libraries.
    "--nofile": frozenset({127}),
    "--stack": NOT_LOADED,
}


def limits(program: Path, count: int, seed: int) -> Tally:
    """Runs commands under tight limits."""
    tally, draw = Tally("resource limits"), random.Random(seed)
    with Sandbox(program) as sandbox:
        for number in range(count):
            flag, values = LIMITS[number % len(LIMITS)]
            arguments = draw.choice(COMMANDS).split()
            if arguments[0] == "run":
                arguments += ["--force", "--out", str(sandbox.out())]
            wrapper = ("prlimit", f"{flag}={draw.choice(values)}")
            ended = sandbox.run(arguments, wrapper=wrapper)
            tally.tried += 1
            words = f"limit {number} of seed {seed}: {' '.join(wrapper)} ipcperf {' '.join(arguments)}"
            if ended.code not in ENDED_BY_LIMIT.get(flag, frozenset()):
                tally.judge(ended, CODES, words)
            sandbox.run(["doctor", "--clean"])
            tally.look_for_leaks(sandbox, words)
            sandbox.out().unlink(missing_ok=True)
    return tally


def replaced(program: Path, count: int, seed: int) -> Tally:
    """Replaces or deletes the executable of a running command: every run must still be carried out."""
    tally, draw = Tally("replaced program"), random.Random(seed)
    for number in range(count):
        with Sandbox(program) as sandbox:
            copy = sandbox.root / "ipcperf"
            shutil.copy2(program, copy)
            sandbox.program = copy
            words = "run -m pipe,fifo -b 64,4096 --total 100kB --repetitions 5 --attempts 1 --out"
            arguments = [*words.split(), str(sandbox.out())]
            started = sandbox.start(arguments)
            time.sleep(draw.uniform(0.05, 0.6))
            copy.unlink()
            if draw.choice((True, False)):
                copy.write_text("not a program")
            ended = sandbox.finish(started, arguments)
            tally.tried += 1
            tally.judge(ended, frozenset({0}))
            file = check(sandbox.out())
            for wrong in file.wrong:
                tally.find("lost_or_duplicated", f"replacement {number} of seed {seed}: {wrong}")
            if failures := [run for run in file.runs if run["kind"] == "failure"]:
                tally.find(
                    "unexpected", f"replacement {number}: {len(failures)} runs failed: {failures[0]['where']}"
                )
            tally.look_for_leaks(sandbox, f"replacement {number} of seed {seed}")
    return tally
