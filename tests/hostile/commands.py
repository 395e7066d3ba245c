"""Random commands, one after another: each must end with a documented exit code and leave nothing behind."""

from __future__ import annotations

from pathlib import Path

from grammar import Grammar
from results_file import check
from sandbox import Sandbox
from tally import Tally


def commands(program: Path, count: int, seed: int) -> Tally:
    """Runs `count` random commands."""
    tally = Tally("random commands")
    grammar = Grammar.of_program(program, seed)
    with Sandbox(program) as sandbox:
        for number in range(count):
            arguments = grammar.command(sandbox.out())
            if any("\0" in word for word in arguments):
                continue
            ended = sandbox.run(arguments)
            tally.tried += 1
            words = f"command {number} of seed {seed}: ipcperf {' '.join(arguments)}"
            tally.judge(ended)
            tally.look_for_leaks(sandbox, words)
            for wrong in check(sandbox.out()).wrong:
                tally.find("lost_or_duplicated", f"{words}: {wrong}")
                sandbox.out().unlink()
    return tally
