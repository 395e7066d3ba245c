"""Verdicts on the hypotheses of a study, from ``ipcperf study judge``."""

from __future__ import annotations

import json
import os
from typing import Any

import pandas as pd

from ipcperf.command import StrPath, find_command, invoke

_VERDICTS = {
    "id": "string",
    "claim": "string",
    "test": "string",
    "verdict": "string",
    "repetitions_needed": "Int64",
    "obstacle": "string",
    "reason": "string",
    "published": "string",
    "as_published": "string",
    "evidence": "object",
}
_PARTS = {
    "id": "string",
    "what": "string",
    "verdict": "string",
    "n": "Int64",
    "medians": "object",
    "unit": "string",
    "p": "float64",
    "p_corrected": "float64",
    "estimates": "object",
    "note": "string",
}


def verdicts(path: StrPath, *, study: StrPath | None = None, command: StrPath | None = None) -> pd.DataFrame:
    """Judges the hypotheses of the study that the results file at `path` was measured for.

    A row for each hypothesis: ``id``, ``claim``, ``test``; ``verdict`` (supported, rejected, inconclusive,
    or not testable here); ``repetitions_needed``, which would settle what is inconclusive, ``obstacle``, why
    no number of them would (noise, effect-at-bound, dependent-blocks), and ``reason``, why it is not
    testable; ``published``, what the document found, and ``as_published``, the verdict by the document's
    own rule, where the study names one; ``evidence``, all it rests on, unrounded (see ``parts``).

    Args:
        path: a results file.
        study: judge against this one; left out, the one in the file, as it was before the measurement.
        command: the ipcperf to run; see ``find_command``.

    Raises:
        CommandNotFound: there is no ipcperf.
        BadUsage: the file is no results file, or was not measured for a study.
    """
    arguments = ["study", "judge", "--json", os.fspath(path)]
    if study is not None:
        arguments.append(f"--study={os.fspath(study)}")
    finished = invoke(find_command(command), arguments)
    finished.warn()
    if finished.exit_code != 0:
        raise finished.failure()
    return _table([_verdict(one) for one in json.loads(finished.stdout)], _VERDICTS)


def parts(judged: pd.DataFrame) -> pd.DataFrame:
    """The comparisons that verdicts rest on: a row for each part of each hypothesis of `judged`.

    Columns: ``id`` of the hypothesis; ``what`` is compared; ``verdict`` of this part alone; ``n``
    repetitions or pairs; ``medians`` in ``unit`` (ns, bytes/s, bytes, or none); ``p`` and ``p_corrected``
    for the parts of the hypothesis; ``estimates``, each effect with its 95 % interval; ``note``.
    """
    rows = [
        part | {"id": name, "verdict": part["verdict"]["verdict"]}
        for name, evidence in zip(judged["id"], judged["evidence"], strict=True)
        for part in evidence["parts"]
    ]
    return _table(rows, _PARTS)


def _verdict(entry: dict[str, Any]) -> dict[str, Any]:
    evidence, beside = entry["evidence"], entry.get("beside") or {}
    return entry | {
        "repetitions_needed": evidence.get("repetitions"),
        "obstacle": evidence.get("obstacle"),
        "reason": evidence.get("reason"),
        "as_published": beside.get("verdict"),
    }


def _table(rows: list[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series([row.get(name) for row in rows], dtype=kind) for name, kind in columns.items()}
    )
