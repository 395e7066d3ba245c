"""Random commands, one after another: each must end with a documented exit code and leave nothing behind."""

from __future__ import annotations

from pathlib import Path

from grammar import Grammar
from place import Place
from results_file import check
from tally import Tally


def commands(program: Path, count: int, seed: int) -> Tally:
    """Runs `count` random commands."""
    tally = Tally("random commands")
    grammar = Grammar.of_program(program, seed)
    with Place(program) as place:
        for number in range(count):
            arguments = grammar.command(place.out())
            if any("\0" in word for word in arguments):
                continue
            ended = place.run(arguments)
            tally.tried += 1
            words = f"command {number} of seed {seed}: ipcperf {' '.join(arguments)}"
            tally.judge(ended)
            tally.look_for_leaks(place, words)
            for wrong in check(place.out()).wrong:
                tally.find("lost_or_doubled", f"{words}: {wrong}")
                place.out().unlink()
    return tally
