"""Counts and findings of one part of the hostile tests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sandbox import Finished, Sandbox

CODES = frozenset({0, 2, 3, 4, 5})
# Characters that draw on a terminal, reverse its text, or are invisible.
FOREIGN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
# Words that only a defect prints.
DEFECTS = (
    "panicked at",
    "RUST_BACKTRACE",
    "overflowed its stack",
    "memory allocation of",
    "SIGSEGV",
    "core dumped",
)


@dataclass
class Tally:
    """Counts and findings of a part."""

    part: str
    tried: int = 0
    hangs: int = 0
    crashes: int = 0
    leaks: int = 0
    lost_or_duplicated: int = 0
    unexpected: int = 0
    skipped: str | None = None
    findings: list[str] = field(default_factory=list)

    COUNTS = ("tried", "hangs", "crashes", "leaks", "lost_or_duplicated", "unexpected")

    @property
    def is_clean(self) -> bool:
        """Returns whether there are no findings."""
        return not self.findings

    def add(self, other: Tally) -> None:
        """Adds the findings of another share of the same part."""
        for name in self.COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.findings += other.findings
        self.skipped = self.skipped or other.skipped

    def find(self, kind: str, words: str) -> None:
        """Counts a finding of `kind` and keeps its description."""
        setattr(self, kind, getattr(self, kind) + 1)
        self.findings.append(f"{self.part}: {kind}: {words}")

    def judge(self, ended: Finished, codes: frozenset[int] = CODES, words: str = "") -> bool:
        """Returns whether a command, named by `words` or its arguments, ended properly; else counts it."""
        words = words or f"ipcperf {' '.join(ended.arguments)}"
        if ended.is_hung:
            self.find("hangs", words)
        elif any(defect in ended.error for defect in DEFECTS) or (ended.code or 0) < 0:
            self.find("crashes", f"{words}: code {ended.code}: {ended.error[-400:]}")
        elif ended.code not in codes:
            self.find("unexpected", f"{words}: code {ended.code}: {ended.error[-400:]}")
        elif FOREIGN.search(ended.output + ended.error):
            self.find("unexpected", f"{words!r}: prints terminal control characters")
        else:
            return True
        return False

    def look_for_leaks(self, sandbox: Sandbox, words: str) -> None:
        """Counts leftovers in `sandbox`."""
        if left := sandbox.lasting_leftovers():
            self.find("leaks", f"{words}: {', '.join(left[:5])}")
            sandbox.forget()
