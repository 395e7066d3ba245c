"""Measurements: ``ipcperf study run`` and ``ipcperf run``, returning their results."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ipcperf.command import Finished, StrPath, find_command, invoke
from ipcperf.errors import BadResults, Interrupted, NotWritten, SomeFailed, TornResults, UnreadableResults
from ipcperf.results import Results, read

# Exit codes after which this command has left a results file. After others, an existing file may be older.
_KEEPING = (SomeFailed.code, NotWritten.code, Interrupted.code)


def run_study(
    study: StrPath,
    *,
    quick: bool = False,
    only: str | Iterable[str] = (),
    out: StrPath | None = None,
    force: bool = False,
    report: StrPath | None = None,
    command: StrPath | None = None,
) -> Results:
    """Measures the cases of a study and reads the results; ``verdicts`` judges them.

    Args:
        study: name of a bundled study, or path of a study file.
        quick: use every second level of long factors, at most ten repetitions and smaller counts.
        only: one or more ids of hypotheses; measures only their cases.
        out: results file; by default a new file in the default folder of the command.
        force: replace `out` if it exists.
        report: also write an HTML report to this path.
        command: the ipcperf to run; see ``find_command``.

    Raises:
        CommandNotFound: ipcperf was not found.
        BadUsage: the study is unknown or invalid, or `out` exists.
        NothingToRun: nothing of it can run on this machine.
        SomeFailed: some runs failed; the exception's `results` has the others.
        NotWritten: the results, or the report, could not be written.
        Interrupted: the command was interrupted; the exception's `results` has what was measured.
    """
    arguments = ["study", "run", os.fspath(study)]
    if quick:
        arguments.append("--quick")
    arguments += [f"--only={one}" for one in _listed(only)]
    if report is not None:
        arguments.append(f"--report={os.fspath(report)}")
    path = Path(out) if out is not None else _new_path(Path(study).stem)
    return _measured(arguments, path, force=force, command=command)


def run(
    mechanisms: str | Iterable[str],
    workload: str | Iterable[str] = "stream",
    buffer_sizes: str | int | Iterable[str | int] = "64KiB",
    *,
    out: StrPath | None = None,
    force: bool = False,
    command: StrPath | None = None,
    **flags: object,
) -> Results:
    """Measures every combination of the given values, as ``ipcperf run`` does, and reads the results.

        run(["pipe", "unix-stream"], buffer_sizes="512..1MiB", placement="split", repetitions=20)
        run("pipe", buffer_sizes=65536, set={"pipe.capacity": ["4KiB", "1MiB"]}, verify=True)

    Args:
        mechanisms: names, or ``all``.
        workload: names; ``stream`` or ``round-trip``, for example.
        buffer_sizes: bytes per call or message, as numbers or in the syntax of the command (``512..16MiB``).
        out: results file; by default a new file in the default folder of the command.
        force: replace `out` if it exists.
        command: the ipcperf to run; see ``find_command``.
        flags: other flags of ``ipcperf run``, with ``_`` for ``-``. True passes the flag without a value,
            None and False omit it, several values are joined by commas, and a mapping passes the flag
            once per entry.

    Raises:
        CommandNotFound: ipcperf was not found.
        BadUsage: a name or a flag is invalid, every cell is refused, or `out` exists.
        NothingToRun: none of the mechanisms is available on this machine.
        SomeFailed: some runs failed; the exception's `results` has the others.
        NotWritten: the results could not be written.
        Interrupted: the command was interrupted; the exception's `results` has what was measured.
    """
    named = {"mechanism": mechanisms, "workload": workload, "buffer": buffer_sizes, **flags}
    arguments = ["run", *(argument for name, value in named.items() for argument in _flag(name, value))]
    path = Path(out) if out is not None else _new_path("run")
    return _measured(arguments, path, force=force, command=command)


def _measured(arguments: Sequence[str], path: Path, *, force: bool, command: StrPath | None) -> Results:
    output = [f"--out={path}", *(["--force"] if force else [])]
    finished = invoke(find_command(command), [*arguments, *output])
    finished.warn()
    if finished.exit_code != 0:
        raise finished.failure(_kept(finished, path))
    return read(path)


def _kept(finished: Finished, path: Path) -> Results | None:
    if finished.exit_code not in _KEEPING:
        return None
    with warnings.catch_warnings():
        # The exception already says that the file ends early.
        warnings.simplefilter("ignore", TornResults)
        try:
            return read(path)
        except (BadResults, UnreadableResults):
            return None


def _listed(values: object) -> list[str]:
    if isinstance(values, Iterable) and not isinstance(values, str | os.PathLike):
        return [_word(value) for value in values]
    return [_word(values)]


def _word(value: object) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _flag(name: str, value: object) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, Mapping):
        return [f"{flag}={key}={','.join(_listed(one))}" for key, one in value.items()]
    return [f"{flag}={','.join(_listed(value))}"]


def _new_path(stem: str) -> Path:
    """Returns a new path in the default folder of the command for results."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    folder = Path(data) / "ipcperf"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{stem}-{datetime.now():%Y%m%dT%H%M%S.%f}-{os.getpid()}.jsonl"
