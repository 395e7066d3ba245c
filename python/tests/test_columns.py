"""Comparison of the columns with the schema of results files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ipcperf.columns import FAILURE, PACED, PACED_RUN, PEER, PEERS_RUN, SAMPLE, SEVERAL_PEERS, Columns, Kind

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "results.schema.json").read_text())["$defs"]
# Lists, which become comma-separated text or stay as they are. Options and prefixes become separate columns.
OTHERWISE = {"cpus": Kind.TEXT, "instruments": Kind.TEXT, "warm_up_slices_ns": Kind.ANYTHING}
KINDS = {"integer": Kind.INTEGER, "number": Kind.NUMBER, "string": Kind.TEXT, "boolean": Kind.BOOLEAN}


def of_schema(key: dict[str, Any]) -> Kind:
    """Returns the kind of a key in the schema; references are to strings."""
    types = key.get("type", "string")
    listed = types if isinstance(types, list) else [types]
    return next(KINDS[one] for one in listed if one in KINDS)


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("Sample", SAMPLE | PACED | SEVERAL_PEERS),
        ("FailedRun", FAILURE | PACED_RUN | PEERS_RUN),
        ("PeerRecord", PEER),
    ],
)
def test_every_key_of_the_schema_is_a_column_of_its_kind(line: str, columns: Columns) -> None:
    keys = SCHEMA[line]["properties"]
    kinds = {
        name: OTHERWISE.get(name) or of_schema(key)
        for name, key in keys.items()
        if name not in ("options", "prefixes")
    }
    assert columns == kinds


def test_the_only_other_keys_are_whole_numbers_of_roles() -> None:
    assert SCHEMA["Sample"]["patternProperties"] == {
        "^(sender|receiver|broker|both)_": {"type": ["integer", "null"], "minimum": 0}
    }
