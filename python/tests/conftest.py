"""Fixtures of several tests: recorded results files, and the command if there is one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import ipcperf
import pytest
from made import Write

RECORDED = Path(__file__).parents[2] / "tests" / "command" / "files"


@pytest.fixture
def recorded() -> Path:
    """Folder of the results files that the command's own tests read."""
    return RECORDED


@pytest.fixture
def command() -> Path:
    """Path of the command; without one the test is skipped, or fails if skips are forbidden."""
    try:
        return ipcperf.find_command()
    except ipcperf.CommandNotFound as error:
        if os.environ.get("IPCPERF_FORBID_SKIPS") == "1":
            pytest.fail(f"skipped, which is forbidden here: {error}")
        pytest.skip(str(error))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes lines as a results file: strings unchanged, other values as JSON."""

    def written(*lines: object, end: str = "\n") -> Path:
        path = tmp_path / "results.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts) + end)
        return path

    return written
