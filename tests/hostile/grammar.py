"""Random commands: mostly valid, with occasional bad values."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BAD = (
    "",
    "0",
    "-1",
    "1e9",
    "nan",
    "inf",
    "99999999999999999999999",
    "64,64",
    ",",
    "..",
    "9..1",
    "1..2:0",
    "\u202e",
    "é",
)
SIZES = ("1", "64", "4KiB", "64KiB", "64,4096", "1..64*8", "512..4KiB", "1MiB", "1kB..4kB:3")
ALWAYS = {"--total": ("4kB", "64kB", "1"), "--attempts": ("1", "2")}
FLAGS = {
    "--kernel-buffer": ("default", "match", "1", "4096", "1MiB", "1GiB"),
    "--touch": ("none", "write", "read", "both"),
    "--payload": ("constant", "random", "compressible:2", "compressible:100"),
    "--buffers": ("hot", "rotate", "cold"),
    "--first-touch": ("after-fork", "before-fork", "timed"),
    "--seed": ("1", "18446744073709551615"),
}
REPLIES = ("echo", "8", "4096")
REPETITIONS = ("1", "2")
# Probability that a command has a flag, an instrument, an option or a wrong value, measures nothing, or reads
# a file.
RARE, INSTRUMENTED, WITH_OPTIONS, WRONG, LOOKING, READING = 0.12, 0.1, 0.3, 0.02, 0.1, 0.1
SWITCHES = ("--json", "--quiet")
MODES = ("1thread", "2thread", "2proc")
PLACEMENTS = ("same",) * 5 + ("split",) * 3 + ("free", "0:1", "0:0", "smt", "llc", "numa")
# Commands that do not measure and end in a fraction of a second.
LOOKS = (
    ["list"],
    ["list", "mechanisms", "--json"],
    ["list", "studies"],
    ["machine", "--json"],
    ["doctor"],
    ["man"],
    ["completions", "bash"],
    ["study", "list"],
    ["study", "show", "pipe-or-socket"],
    ["study", "plan", "wright"],
    ["plan", "-m", "all", "-w", "stream,round-trip"],
    ["--help"],
    ["--version"],
    ["nonsense"],
    ["run"],
)


def listed(program: Path, what: str) -> list[dict[str, Any]]:
    """Returns the entries of `ipcperf list` for `what`."""
    text = subprocess.run([program, "list", what, "--json"], capture_output=True, check=True).stdout
    entries: list[dict[str, Any]] = json.loads(text)
    return entries


@dataclass
class Grammar:
    """Draws random commands from the names that the program lists."""

    mechanisms: list[dict[str, Any]]
    workloads: list[str]
    instruments: list[str]
    random: random.Random

    @classmethod
    def of_program(cls, program: Path, seed: int) -> Grammar:
        """Creates the grammar from the lists of the program."""
        names = {
            what: [entry["name"] for entry in listed(program, what)] for what in ("workloads", "instruments")
        }
        mechanisms = listed(program, "mechanisms")
        return cls(mechanisms, names["workloads"], names["instruments"], random.Random(seed))

    def command(self, out: Path) -> list[str]:
        """Returns a command that writes results to `out` if it measures."""
        draw = self.random.random()
        if draw < LOOKING:
            return list(self.random.choice(LOOKS))
        if draw < LOOKING + READING:
            return self.reader(out)
        word = self.random.choices(["run", "plan", "trace"], [12, 2, 1])[0]
        command = [word, *self.matrix()]
        if word == "plan":
            return [argument for argument in command if argument not in ("--quiet",)]
        return [*command, "--timeout", "2", "--force", "--out", str(out)]

    def reader(self, out: Path) -> list[str]:
        """Returns a command that reads the file of an earlier one, or another file."""
        file = str(out)
        return self.random.choice(
            [
                ["show", file],
                ["show", file, "--json"],
                ["export", "csv", file],
                ["export", "json", file, file],
                ["export", "markdown", file],
                ["report", file, "-o", f"{file}.html"],
                ["resume", file],
                ["show", "/dev/null"],
                ["show", "/"],
                ["resume", "/dev/null"],
                ["export", "benchstat", "/etc/passwd"],
            ]
        )

    def matrix(self) -> list[str]:
        """Returns arguments for mechanisms, factors and repetitions."""
        chosen = self.random.sample(self.mechanisms, self.random.choice([1, 1, 1, 2]))
        names = ",".join(one["name"] for one in chosen)
        workload = self.random.choice(self.workloads)
        modes = tuple(chosen[0].get("modes") or MODES)
        words = ["-m", names, "-w", workload, "-b", self.value(SIZES)]
        words += ["--mode", self.value(modes), "--placement", self.value(PLACEMENTS), *self.flags(workload)]
        if self.random.random() < INSTRUMENTED:
            words += ["--instrument", self.value(tuple(self.instruments))]
        with_options = [one for one in chosen if one["options"]]
        if with_options and self.random.random() < WITH_OPTIONS:
            words += ["--set", self.option(self.random.choice(with_options))]
        return words

    def flags(self, workload: str) -> list[str]:
        """Returns arguments for totals, repetitions and message options."""
        words = [f"{flag}={self.value(values)}" for flag, values in ALWAYS.items()]
        verify = self.random.random() < RARE
        for flag, values in FLAGS.items():
            excluded = verify and flag in ("--touch", "--payload")
            if not excluded and self.random.random() < RARE:
                words += [f"{flag}={self.value(values)}"]
        words += ["--verify"] if verify else []
        words += ["--reply", self.value(REPLIES)] if workload == "request-reply" else []
        often = (
            "--until-ci=50 --max-time=1"
            if self.random.random() < RARE
            else f"--repetitions={self.value(REPETITIONS)}"
        )
        return [*words, *often.split(" "), *(switch for switch in SWITCHES if self.random.random() < RARE)]

    def option(self, mechanism: dict[str, Any]) -> str:
        """Returns an option of a mechanism with a valid or invalid value."""
        option = self.random.choice(mechanism["options"])
        low, _, high = option["values"].partition("..")
        known = (low, high) if high else tuple(option["values"].replace("BYTES", "64KiB").split("|"))
        return f"{mechanism['name']}.{option['name']}={self.value(known)}"

    def value(self, known: tuple[str, ...]) -> str:
        """Returns a known value, or rarely a bad one."""
        return self.random.choice(BAD if self.random.random() < WRONG else known)
