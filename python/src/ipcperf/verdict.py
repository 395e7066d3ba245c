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
    """Judges the hypotheses of the study for which the results file at `path` was measured.

    Returns one row per hypothesis, with these columns: ``id``, ``claim``, ``test``; ``verdict`` (supported,
    rejected, inconclusive, or not testable here); ``repetitions_needed`` to decide an inconclusive claim, or
    ``obstacle``, why no number would (noise, effect-at-bound, dependent-blocks); ``reason`` why it is not
    testable; ``published``, the result of the paper; ``as_published``, the verdict of the original test, if
    the study has one; ``evidence``, all values that the verdict is based on, unrounded (see ``parts``).

    Args:
        path: a results file.
        study: study to judge by; by default the one in the file, as it was before the measurement.
        command: the ipcperf to run; see ``find_command``.

    Raises:
        CommandNotFound: ipcperf was not found.
        BadUsage: the file is not a results file, or was not measured for a study.
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
    """Returns the comparisons behind verdicts: one row per part of each hypothesis of `judged`.

    Columns: ``id`` of the hypothesis; ``what`` is compared; ``verdict`` of this part; ``n``, the number of
    repetitions or pairs; ``medians`` in ``unit`` (ns, bytes/s, bytes, or none); ``p`` and ``p_corrected``
    (for the parts of the hypothesis); ``estimates``, each effect with its 95 % interval; ``note``.
    """
    rows = [
        part | {"id": name, "verdict": part["verdict"]["verdict"]}
        for name, evidence in zip(judged["id"], judged["evidence"], strict=True)
        for part in evidence["parts"]
    ]
    return _table(rows, _PARTS)


def _verdict(entry: dict[str, Any]) -> dict[str, Any]:
    evidence, original = entry["evidence"], entry.get("original_test") or {}
    return entry | {
        "repetitions_needed": evidence.get("repetitions"),
        "obstacle": evidence.get("obstacle"),
        "reason": evidence.get("reason"),
        "as_published": original.get("verdict"),
    }


def _table(rows: list[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series([row.get(name) for row in rows], dtype=kind) for name, kind in columns.items()}
    )
