"""Tests the command under hostile conditions: invalid arguments, kills, other users, exhausted resources.

Each part has a fixed count; findings are printed with the seed that reproduces them. As root, each share
of the work gets private IPC and mount namespaces, so that leftovers there are its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from commands import commands
from kills import kills
from limits import limits, replaced
from sandbox import HANG_S
from sharing import namespaces, users
from tally import Tally

Part = Callable[[Path, int, int], Tally]


@dataclass(frozen=True)
class Plan:
    """A part, its count, and the number of parallel shares."""

    run: Part
    count: int
    shares: int


PARTS = {
    "commands": Plan(commands, 2000, 2),
    "kills": Plan(kills, 500, 2),
    "users": Plan(users, 84, 1),
    "namespaces": Plan(namespaces, 84, 1),
    "limits": Plan(limits, 120, 1),
    "replaced": Plan(replaced, 12, 1),
}
HEADINGS = (
    "part",
    "trials",
    "hangs",
    "crashes",
    "leaks",
    "lost or duplicated samples",
    "unexpected exits",
    "time (s)",
)


def arguments() -> argparse.Namespace:
    """Parses the arguments."""
    parser = argparse.ArgumentParser(
        prog="scripts/hostile", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--program", type=Path, required=True, help="ipcperf to test")
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the full counts [1]")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="random seed [the time]")
    parser.add_argument("--only", choices=PARTS, action="append", help="part to run; may be repeated [all]")
    parser.add_argument("--write-page", type=Path, help="write the counts to this page")
    parser.add_argument("--share", help=argparse.SUPPRESS)
    return parser.parse_args()


def isolated() -> list[str]:
    """Returns the command prefix for private IPC objects and shared memory, if permitted."""
    if os.geteuid() != 0:
        return []
    wrapper = ["unshare", "--ipc", "--mount"]
    ready = subprocess.run([*wrapper, "true"], check=False, capture_output=True).returncode == 0
    queues = "if [ -d /dev/mqueue ]; then mount -t mqueue none /dev/mqueue; fi"
    mounts = f"mount -t tmpfs -o mode=1777 none /dev/shm && {queues}"
    return [*wrapper, "sh", "-c", f'{mounts} && exec "$@"', "sh"] if ready else []


def start_share(name: str, count: int, seed: int, program: Path) -> subprocess.Popen[str]:
    """Starts a share of a part in a separate process."""
    share = json.dumps({"part": name, "count": count, "seed": seed})
    own = [sys.executable, __file__, "--program", str(program), "--share", share]
    return subprocess.Popen([*isolated(), *own], stdout=subprocess.PIPE, text=True)


def run_part(name: str, plan: Plan, options: argparse.Namespace) -> tuple[Tally, float]:
    """Runs all shares of a part in parallel and adds up their findings."""
    begun = time.monotonic()
    count = max(plan.shares, round(plan.count * options.scale))
    counts = [count // plan.shares + (share < count % plan.shares) for share in range(plan.shares)]
    program = options.program.resolve()
    started = [start_share(name, one, options.seed + share, program) for share, one in enumerate(counts)]
    tally: Tally | None = None
    for process in started:
        text = process.communicate()[0]
        if process.returncode:
            sys.exit(f"scripts/hostile: {name}: the test program itself failed")
        found = Tally(**json.loads(text))
        if tally is None:
            tally = found
        else:
            tally.add(found)
    assert tally is not None
    return tally, time.monotonic() - begun


def row(tally: Tally, seconds: float) -> list[str]:
    """Formats a line of the table."""
    counts = [str(getattr(tally, name)) for name in Tally.COUNTS]
    return [
        tally.part if tally.skipped is None else f"{tally.part} (skipped: {tally.skipped})",
        *counts,
        f"{seconds:.0f}",
    ]


def table(rows: list[list[str]]) -> str:
    """Formats a Markdown table."""
    lines = [HEADINGS, tuple("---" if column == 0 else "---:" for column in range(len(HEADINGS))), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


PAGE = """# Hostile tests

This page shows the results of running `ipcperf` under hostile conditions: invalid arguments, kills, other
users and exhausted resources.

    scripts/hostile --write-page docs/hostile.md   # runs the tests and writes this page

| part | what a trial runs |
| --- | --- |
| random commands | `ipcperf` with random arguments, some of them invalid |
| kills | a measurement with SIGINT to `ipcperf` or SIGKILL to some or all processes, then `ipcperf resume` |
| two users | a measurement while another user measures |
| two PID namespaces | a measurement while the same user measures in another PID namespace |
| resource limits | `ipcperf` under one of ten limits, such as the number of open files or the file size |
| replaced program | a measurement during which the file of `ipcperf` is replaced or deleted |

With two users or two PID namespaces, both measurements use the same folder for temporary files and the same
IPC namespace.

The last table shows the number of trials, and the number of findings of each kind:

- **hang**: a command neither ends nor writes to its results file for {hang:.0f} s
- **crash**: a command panics, or is killed by a signal that neither the test nor a resource limit sent
- **leak**: a process or a name (socket file, shared-memory object, queue, ...) is left behind. In two
  situations, the test runs `ipcperf doctor --clean` before it searches for leaks: after it has killed a
  command together with its worker, and after it has run a command under a resource limit
- **lost or duplicated sample**: a run is missing from the results file, or occurs twice
- **unexpected exit**: an exit code that is not documented, or that this trial does not allow. Three
  other findings count as unexpected exits: a run that fails while the program is replaced, an object of
  another user that `ipcperf` removes, and terminal control characters in the output

To repeat these tests with the same random choices, run `scripts/hostile --seed {seed}`.

{table}
"""


def main() -> int:
    """Runs all parts; returns 1 if there are findings."""
    options = arguments()
    if options.share:
        share = json.loads(options.share)
        json.dump(
            asdict(PARTS[share["part"]].run(options.program, share["count"], share["seed"])), sys.stdout
        )
        return 0
    done: list[tuple[Tally, float]] = []
    for name in options.only or PARTS:
        print(f"scripts/hostile: {name}, seed {options.seed} ...", file=sys.stderr, flush=True)
        done.append(run_part(name, PARTS[name], options))
        for finding in done[-1][0].findings:
            print(finding, flush=True)
    text = table([row(tally, seconds) for tally, seconds in done])
    print(text)
    if options.write_page:
        options.write_page.write_text(PAGE.format(seed=options.seed, hang=HANG_S, table=text))
    return 0 if all(tally.is_clean for tally, _ in done) else 1


if __name__ == "__main__":
    sys.exit(main())
