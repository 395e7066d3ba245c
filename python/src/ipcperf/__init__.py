"""Runs ipcperf and reads its results into pandas.

    import ipcperf

    results = ipcperf.run_study("bell-thomas-2020", quick=True)
    results.valid.groupby(["mechanism", "buffer_bytes"])["bandwidth_bytes_per_s"].median()
    ipcperf.verdicts(results.path)

Names end in their units: ``_ns`` nanoseconds, ``_bytes`` bytes, ``_bytes_per_s`` bytes per second.
"""

from ipcperf.command import find_command
from ipcperf.errors import (
    BadResults,
    BadUsage,
    CommandFailed,
    CommandNotFound,
    Interrupted,
    IpcperfError,
    MachineWarning,
    NothingToRun,
    NotObserved,
    NotWritten,
    SomeFailed,
    TornResults,
    UnreadableResults,
)
from ipcperf.measure import run, run_study
from ipcperf.results import Results, read
from ipcperf.suffixes import unit, units
from ipcperf.verdict import parts, verdicts

__all__ = [
    "BadResults",
    "BadUsage",
    "CommandFailed",
    "CommandNotFound",
    "Interrupted",
    "IpcperfError",
    "MachineWarning",
    "NotObserved",
    "NotWritten",
    "NothingToRun",
    "Results",
    "SomeFailed",
    "TornResults",
    "UnreadableResults",
    "find_command",
    "parts",
    "read",
    "run",
    "run_study",
    "unit",
    "units",
    "verdicts",
]
