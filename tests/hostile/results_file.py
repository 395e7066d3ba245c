"""Checks a results file against its own plan: every run exactly once."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass
class Checked:
    """Contents of a file, and its errors."""

    header: Row | None = None
    runs: list[Row] = field(default_factory=list)
    footer: Row | None = None
    wrong: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Returns whether its last line states that every run of the plan was made."""
        return self.footer is not None and bool(self.footer["complete"])


def rows(path: Path) -> list[Row]:
    """Returns the lines of a file, without a torn last line."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1] if line]


def check(path: Path) -> Checked:
    """Reads and checks a file whose command may have been killed."""
    checked = Checked()
    for row in rows(path):
        if row["kind"] == "header":
            checked.header = row
        elif row["kind"] in ("sample", "failure"):
            checked.runs.append(row)
        checked.footer = row if row["kind"] == "footer" else None
    numbered = [row["seq"] for row in rows(path) if "seq" in row]
    if numbered != list(range(1, len(numbered) + 1)):
        checked.wrong.append(f"{path.name}: sequence numbers have gaps or repeats")
    names = Counter(run["run_id"] for run in checked.runs)
    checked.wrong += [f"{path.name}: run {name} occurs {n} times" for name, n in names.items() if n > 1]
    if checked.is_complete:
        checked.wrong += missing(checked, path)
    return checked


def missing(checked: Checked, path: Path) -> list[str]:
    """Returns the runs of the plan that are missing in a complete file."""
    if checked.header is None or checked.header["plan"]["until_ci"] is not None:
        return []
    plan = checked.header["plan"]
    made = {(run["block"], run["case_id"]) for run in checked.runs}
    planned = {(block, case) for block in range(plan["repetitions"] + 1) for case in plan["cases"]}
    lost = planned - made
    found = [f"{path.name}: complete, but lacks {len(lost)} runs, such as {sorted(lost)[0]}"] if lost else []
    counts = {kind: sum(run["kind"] == kind for run in checked.runs) for kind in ("sample", "failure")}
    footer = checked.footer or {}
    if (footer.get("samples"), footer.get("failures")) != (counts["sample"], counts["failure"]):
        found.append(
            f"{path.name}: the footer counts {footer.get('samples')} samples; the file has {counts['sample']}"
        )
    return found
