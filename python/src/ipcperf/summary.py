"""Text that ``print(results)`` shows: file, machine, counts of runs, and the first rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from ipcperf.results import Results

# Rows and characters of the table, so that it fits a terminal of 100 columns.
_ROWS = 5
_NAME_WIDTH = 30
# Columns of the table. A column without any value is left out: streams have no round trips.
_SHOWN = [
    "mechanism",
    "workload",
    "placement",
    "buffer_bytes",
    "bandwidth_bytes_per_s",
    "round_trip_ns_p50",
    "instruments",
]


def summary(results: Results) -> str:
    """Returns the summary, of about ten lines."""
    lines = [f"ipcperf results {results.path}", *_machine(results), _counts(results)]
    if not results.is_complete:
        lines.append("incomplete: some runs of the plan are missing; `ipcperf resume` continues")
    return "\n".join([*lines, *_first_rows(results.valid)])


def _machine(results: Results) -> Iterator[str]:
    environment = results.header.get("environment") or {}
    cpus = environment.get("allowed_cpus")
    facts = [
        environment.get("cpu_model"),
        cpus and f"CPUs {cpus}",
        environment.get("kernel"),
        "virtual machine" if environment.get("hypervisor") else None,
    ]
    known = ", ".join(str(fact) for fact in facts if fact)
    if known:
        yield f"machine: {known}"


def _counts(results: Results) -> str:
    excluded, failures = results.excluded, results.failures
    cases = pd.concat([results.samples["case_id"], failures["case_id"]]).nunique()
    counts = [
        _number(cases, "case"),
        _number(len(results.valid), "valid run"),
        f"{len(excluded)} excluded{_reasons(excluded)}",
        f"{len(failures)} failed",
    ]
    return ", ".join(counts)


def _reasons(excluded: pd.DataFrame) -> str:
    counted = excluded["excluded"].value_counts()
    reasons = ", ".join(f"{count} {reason}" for reason, count in counted.items())
    return f" ({reasons})" if reasons else ""


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _first_rows(valid: pd.DataFrame) -> Iterator[str]:
    if valid.empty:
        return
    first = valid[_SHOWN].head(_ROWS).astype("object")
    shown = first.mask(first == "").dropna(axis="columns", how="all")
    yield shown.where(shown.notna(), "").to_string(index=False, max_colwidth=_NAME_WIDTH)
    if len(valid) > _ROWS:
        yield f"... {len(valid) - _ROWS} more in `results.valid`"
