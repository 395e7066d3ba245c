"""Verdicts of the command, from recorded output (shortened)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ipcperf


def judged(tmp_path: Path, *told: dict[str, Any]) -> Path:
    """Makes a fake command that prints these verdicts."""
    (tmp_path / "told").write_text(json.dumps(told))
    path = tmp_path / "ipcperf"
    path.write_text(f'#!/bin/sh\ncat "{tmp_path}/told"\n')
    path.chmod(0o755)
    return path


PART = {
    "what": "pipe vs. unix-stream",
    "verdict": {"verdict": "rejected"},
    "n": 10,
    "medians": [2.41e9, 2.75e9],
    "unit": "bytes/s",
    "statistic": ["W", 0.0],
    "p": 0.002,
    "p_corrected": 0.004,
    "estimates": [{"name": "ratio", "value": 0.86, "low": 0.83, "high": 0.88, "unit": ""}],
    "note": None,
}
REJECTED = {
    "id": "H2",
    "claim": "Pipes outperform sockets.",
    "test": "faster-than",
    "verdict": "rejected",
    "evidence": {"verdict": "rejected", "parts": [PART], "remarks": []},
    "published": "63 % faster",
    "original_test": {
        "verdict": "supported",
        "evidence": {"verdict": "supported", "parts": [], "remarks": []},
    },
}
OPEN: dict[str, Any] = REJECTED | {
    "id": "H3",
    "verdict": "inconclusive",
    "evidence": {"verdict": "inconclusive", "repetitions": 40, "obstacle": None, "parts": [], "remarks": []},
    "published": None,
    "original_test": None,
}
UNTESTABLE = OPEN | {
    "id": "H4",
    "verdict": "not testable here",
    "evidence": {
        "verdict": "not testable here",
        "reason": "no counters",
        "parts": [PART | {"verdict": {"verdict": "not testable here", "reason": "none"}, "p": None, "n": 0}],
        "remarks": [],
    },
}


def test_a_row_for_each_hypothesis(tmp_path: Path) -> None:
    command = judged(tmp_path, REJECTED, OPEN, UNTESTABLE)
    table = ipcperf.verdicts("r.jsonl", command=command).set_index("id")
    assert table["verdict"].tolist() == ["rejected", "inconclusive", "not testable here"]
    assert table["as_published"].isna().tolist() == [False, True, True]
    assert table.loc["H3", "repetitions_needed"] == 40
    assert table.loc["H4", "reason"] == "no counters"
    assert table["obstacle"].isna().all()


def test_what_cannot_be_settled_says_why(tmp_path: Path) -> None:
    evidence: dict[str, Any] = {"verdict": "inconclusive", "repetitions": None, "obstacle": "noise"}
    evidence |= {"parts": [], "remarks": []}
    table = ipcperf.verdicts("r.jsonl", command=judged(tmp_path, OPEN | {"evidence": evidence}))
    assert table["obstacle"].tolist() == ["noise"]
    assert table["repetitions_needed"].isna().all()


def test_a_row_for_each_part(tmp_path: Path) -> None:
    table = ipcperf.parts(ipcperf.verdicts("r.jsonl", command=judged(tmp_path, REJECTED, OPEN, UNTESTABLE)))
    assert table["id"].tolist() == ["H2", "H4"]
    assert table["verdict"].tolist() == ["rejected", "not testable here"]
    assert table["p_corrected"].tolist() == [0.004, 0.004]
    assert table["p"].isna().tolist() == [False, True]
    assert table["estimates"][0][0]["low"] == 0.83


def test_no_verdicts_are_tables_without_rows(tmp_path: Path) -> None:
    table = ipcperf.verdicts("r.jsonl", command=judged(tmp_path))
    assert table.empty
    assert ipcperf.parts(table).columns[0] == "id"
