"""Measurements: ``ipcperf study run`` and ``ipcperf run``, returning their results."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ipcperf.command import Finished, StrPath, find_command, invoke
from ipcperf.errors import BadResults, Interrupted, NotWritten, SomeFailed, TornResults
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
    """Measures what a study needs, and reads what came of it; ``verdicts`` has what it comes to.

    Args:
        study: the name of a study that comes with ipcperf, or the path of one's own.
        quick: every second level of long factors, at most ten repetitions, shorter counts.
        only: the id of a hypothesis, or several: measures only what these need.
        out: the results file. Left out, a new one beside those of the command, in its folder of data.
        force: replace `out` where it exists.
        report: also draw up a report there, one page of HTML.
        command: the ipcperf to run; see ``find_command``.

    Raises:
        CommandNotFound: there is no ipcperf.
        BadUsage: the study is unknown or has mistakes, or `out` exists.
        NothingToRun: nothing of it can run here.
        SomeFailed: some runs failed; the rest is in the exception's `results`.
        NotWritten: the results, or the report, could not be written.
        Interrupted: it was interrupted; what was measured is in the exception's `results`.
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
    """Measures every combination of what is named, as ``ipcperf run`` does, and reads what came of it.

        run(["pipe", "unix-stream"], buffer_sizes="512..1MiB", placement="split", repetitions=20)
        run("pipe", buffer_sizes=65536, set={"pipe.capacity": ["4KiB", "1MiB"]}, verify=True)

    Args:
        mechanisms: names, or ``all``.
        workload: names; ``stream`` or ``round-trip``, for example.
        buffer_sizes: bytes of one call or message, as numbers or as words of the command (``512..16MiB``).
        out: the results file. Left out, a new one beside those of the command, in its folder of data.
        force: replace `out` where it exists.
        command: the ipcperf to run; see ``find_command``.
        flags: all other flags, named as they are there but with ``_`` for ``-``. True gives the flag alone,
            None and False leave it out, several values get commas between, and a mapping gives the flag
            once for each of its entries.

    Raises:
        CommandNotFound: there is no ipcperf.
        BadUsage: a name or a flag is wrong, or every cell is refused, or `out` exists.
        NothingToRun: none of the mechanisms can be used here.
        SomeFailed: some runs failed; the rest is in the exception's `results`.
        NotWritten: the results could not be written.
        Interrupted: it was interrupted; what was measured is in the exception's `results`.
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
        except (BadResults, OSError):
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
