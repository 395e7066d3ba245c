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
from ipcperf.errors import NotObserved, TornResults
from ipcperf.frame import of_observations, of_runs
from ipcperf.lines import Lines, read_lines

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


@dataclass(frozen=True)
class Results:
    """What a results file holds. Missing is null (``pandas.NA``, or NaN in columns of float64), never zero.

    Attributes:
        path: the file.
        header: what was asked of which machine: ``plan``, ``environment``, ``limits``, ``seed``, ``study``.
        samples: a row for each run that went well, set aside or not. Columns are named as in the file, with
            their units: ``_ns`` nanoseconds, ``_bytes`` bytes, ``_bytes_per_s`` bytes each second. Whole
            numbers are Int64, means float64, names string, ``verify`` boolean. An option of a mechanism is a
            column ``option_NAME``, null where the mechanism lacks it or it was not set. ``cpus`` and
            ``instruments`` are text with commas between. ``samples.attrs["units"]`` has the unit of each
            column that has one.
        observations: for each instrument that watched, a row for each of its lines, of all runs.
        failures: a row for each run that did not go well: ``what``, ``where``, ``errno``, ``remedy``,
            ``transient`` (``ipcperf resume`` makes such a run again).
        footer: how the command ended; None where it did not.
        is_complete: whether every run of the plan has its line.
    """

    path: Path
    header: Mapping[str, Any]
    samples: pd.DataFrame
    observations: Mapping[str, pd.DataFrame]
    failures: pd.DataFrame
    footer: Mapping[str, Any] | None
    is_complete: bool

    @property
    def kept(self) -> pd.DataFrame:
        """The samples that count: all but those that were set aside."""
        return self.samples[self.samples["set_aside"].isna()]

    @property
    def set_aside(self) -> pd.DataFrame:
        """The samples that do not count; ``set_aside`` says why, as in ``first`` or ``disturbed``."""
        return self.samples[self.samples["set_aside"].notna()]

    def observed(self, instrument: str) -> pd.DataFrame:
        """What `instrument` saw of the runs that count: its rows, each beside the case it is of.

        Raises:
            NotObserved: that instrument saw nothing here; with the reason, where the file has one.
        """
        seen = self.observations.get(instrument)
        if seen is None:
            raise NotObserved(f"{instrument} watched no run in {self.path}{self._why_unwatched(instrument)}")
        options = [name for name in self.samples.columns if name.startswith("option_")]
        # Both may have a column of the same name: runs have `mode`, and so may an instrument.
        joined = self.kept[_IDENTITY + options].merge(seen, on="run_id", suffixes=("", "_seen"))
        joined.attrs["units"] = self.samples.attrs["units"] | seen.attrs["units"]
        return joined

    def _why_unwatched(self, instrument: str) -> str:
        unwatched = self.header["plan"].get("unwatched", [])
        reasons = [one["reason"] for one in unwatched if one["instrument"] == instrument]
        watching = ", ".join(sorted(self.observations)) or "none"
        return f": {reasons[0]}" if reasons else f"; those that did: {watching}"


def read(path: str | os.PathLike[str]) -> Results:
    """Reads the results file at `path`.

    A torn last line, which is left out, and a missing footer are told as the warning `TornResults`:
    the command was killed, or is still at work.

    Raises:
        OSError: the file cannot be read.
        BadResults: it is no results file, is from a later ipcperf, or has a bad line inside, which is named.
    """
    path = Path(path)
    lines = read_lines(path)
    results = Results(
        path=path,
        header=lines.header,
        samples=of_runs(path, lines.samples, SAMPLE),
        observations=of_observations(path, lines.observations),
        failures=of_runs(path, lines.failures, FAILURE),
        footer=lines.footer,
        is_complete=lines.is_closed and lines.footer is not None and lines.footer["complete"],
    )
    _warn_of_the_end(path, lines)
    return results


def _warn_of_the_end(path: Path, lines: Lines) -> None:
    if lines.is_torn:
        warnings.warn(f"{path}: the last line is torn and was left out", TornResults, stacklevel=3)
    if not lines.is_closed:
        words = f"{path}: there is no footer: the command did not end; `ipcperf resume` goes on"
        warnings.warn(words, TornResults, stacklevel=3)
