"""Results files: ``read(path)`` and the type that it returns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ipcperf.columns import FAILURE, SAMPLE
from ipcperf.errors import NotObserved, TornResults, UnreadableResults
from ipcperf.frame import of_observations, of_peers, of_runs
from ipcperf.lines import Lines, read_lines
from ipcperf.summary import summary

# Columns that identify the run of an observation.
_IDENTITY = [
    "run_id",
    "case_id",
    "block",
    "mechanism",
    "workload",
    "mode",
    "placement",
    "cpu_pair_class",
    "buffer_bytes",
    "kernel_buffer",
    "total_bytes",
    "messages",
]


@dataclass(frozen=True, repr=False)
class Results:
    """Contents of a results file; ``print`` shows a short summary.

    A missing value is null (``pandas.NA``; NaN for float64), never zero.

    Attributes:
        path: the file.
        header: the request and the machine: ``plan``, ``environment``, ``limits``, ``seed``, ``study``.
        samples: one row per successful run, valid or excluded. Columns have the names of the file, which end
            in their units: ``_ns`` nanoseconds, ``_bytes`` bytes, ``_bytes_per_s`` bytes per second. Whole
            numbers are Int64, means float64, names string, ``verify`` boolean. Each option of a mechanism is
            a column ``option_NAME``, null if the mechanism does not have it or it was not set. ``cpus`` and
            ``instruments`` are comma-separated text. ``samples.attrs["units"]`` has the units of columns.
        peers: one row per peer of each run with several: role, number, messages, latencies, CPU time.
        observations: by instrument, a table with one row per observation, for all runs.
        failures: one row per failed run: ``what``, ``where``, ``errno``, ``remedy``, ``transient``
            (``ipcperf resume`` retries such a run).
        footer: the last footer; None if there is none.
        is_complete: whether every run of the plan has its line.
    """

    path: Path
    header: Mapping[str, Any]
    samples: pd.DataFrame
    peers: pd.DataFrame
    observations: Mapping[str, pd.DataFrame]
    failures: pd.DataFrame
    footer: Mapping[str, Any] | None
    is_complete: bool

    def __repr__(self) -> str:
        """Returns a short summary: file, machine, numbers of cases and runs, and the first rows."""
        return summary(self)

    @property
    def valid(self) -> pd.DataFrame:
        """The samples that count: all that are not excluded."""
        return self.samples[self.samples["excluded"].isna()]

    @property
    def excluded(self) -> pd.DataFrame:
        """The samples that do not count; the column ``excluded`` has the reason, such as ``disturbed``."""
        return self.samples[self.samples["excluded"].notna()]

    def observed(self, instrument: str) -> pd.DataFrame:
        """Returns the observations of `instrument` in valid runs, each with the columns of its case.

        Raises:
            NotObserved: the file has no observations of it; with the reason, if the file has one.
        """
        seen = self.observations.get(instrument)
        if seen is None:
            reason = self._why_unobserved(instrument)
            raise NotObserved(f"no observations of {instrument} in {self.path}{reason}")
        options = [name for name in self.samples.columns if name.startswith("option_")]
        # Both may have a column of the same name: runs have `mode`, and so may an instrument.
        joined = self.valid[_IDENTITY + options].merge(seen, on="run_id", suffixes=("", "_seen"))
        joined.attrs["units"] = self.samples.attrs["units"] | seen.attrs["units"]
        return joined

    def _why_unobserved(self, instrument: str) -> str:
        unavailable = self.header["plan"].get("unavailable_instruments", [])
        reasons = [one["reason"] for one in unavailable if one["instrument"] == instrument]
        observed = ", ".join(sorted(self.observations)) or "none"
        return f": {reasons[0]}" if reasons else f"; instruments with observations: {observed}"


def read(path: str | os.PathLike[str]) -> Results:
    """Reads the results file at `path`.

    An incomplete last line, which is ignored, or a missing footer causes the warning `TornResults`:
    the command was killed, or is still running.

    Raises:
        UnreadableResults: the file does not exist or cannot be read; the message has a remedy.
        BadResults: it is not a results file, has another schema, or contains a bad line.
    """
    path = Path(path)
    try:
        lines = read_lines(path)
    except OSError as error:
        raise UnreadableResults(path, error) from None
    results = Results(
        path=path,
        header=lines.header,
        samples=of_runs(path, lines.samples, SAMPLE),
        peers=of_peers(path, lines.peers),
        observations=of_observations(path, lines.observations),
        failures=of_runs(path, lines.failures, FAILURE),
        footer=lines.footer,
        is_complete=lines.is_closed and lines.footer is not None and lines.footer["complete"],
    )
    _warn_of_the_end(path, lines)
    return results


def _warn_of_the_end(path: Path, lines: Lines) -> None:
    if lines.is_torn:
        warnings.warn(f"{path}: the last line is incomplete and was ignored", TornResults, stacklevel=3)
    if not lines.is_closed:
        words = f"{path}: no footer: the command did not finish; `ipcperf resume` continues"
        warnings.warn(words, TornResults, stacklevel=3)
