"""Conversion of records of a results file to tables: a row per record, a typed column per key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipcperf.columns import OBSERVATION, PEER, Columns, Kind, inferred, of_a_run
from ipcperf.errors import BadResults
from ipcperf.lines import Fields, Record
from ipcperf.suffixes import units

# Values that files of older versions do not state, because no others existed.
_ONCE_ALWAYS = {"touch": "none", "payload": "constant", "buffers": "hot", "first_touch": "after-fork"}


def of_runs(path: Path, records: Sequence[Record], columns: Columns) -> pd.DataFrame:
    """Returns a table of samples or failures: `columns`, then other keys, then a column per option.

    Lists (``cpus``, ``instruments``) become comma-separated text, and each option of a mechanism a column
    ``option_NAME``, so that tables can be grouped by them.

    Raises:
        BadResults: a known key has a value of the wrong type.
    """
    plain = [Record(line, _plain(fields)) for line, fields in records]
    return _table(path, plain, columns, of_a_run)


def of_peers(path: Path, records: Sequence[Record]) -> pd.DataFrame:
    """Returns a table of the peers of runs with several.

    Raises:
        BadResults: a known key has a value of the wrong type.
    """
    return _table(path, records, PEER, lambda _: None)


def of_observations(path: Path, records: Sequence[Record]) -> dict[str, pd.DataFrame]:
    """Returns a table for each instrument, with its own columns.

    Nested fields are named with a dot, as in studies: ``percentiles_ns.p50``.

    Raises:
        BadResults: ``run_id``, ``instrument`` or ``role`` is not a string.
    """
    by_instrument: dict[str, list[Record]] = {}
    for line, fields in records:
        by_instrument.setdefault(str(fields["instrument"]), []).append(Record(line, _pointed(fields)))
    return {
        instrument: _table(path, of_it, OBSERVATION, lambda _: None)
        for instrument, of_it in by_instrument.items()
    }


def _plain(fields: Fields) -> Fields:
    plain = {**_ONCE_ALWAYS, **fields}
    options: Mapping[str, Any] = plain.pop("options")
    prefixes: Mapping[str, Any] = plain.pop("prefixes", {})
    for name in ("cpus", "instruments"):
        if isinstance(plain.get(name), list):
            plain[name] = ",".join(map(str, plain[name]))
    commands = {f"prefix_{role}": command for role, command in prefixes.items()}
    return plain | commands | {f"option_{name}": value for name, value in options.items()}


def _pointed(fields: Fields) -> Fields:
    pointed: Fields = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            pointed.update({f"{name}.{inner}": one for inner, one in value.items()})
        else:
            pointed[name] = value
    return pointed


def _table(
    path: Path, records: Sequence[Record], columns: Columns, further: Callable[[str], Kind | None]
) -> pd.DataFrame:
    names = dict.fromkeys([*columns, *(name for record in records for name in record.fields)])
    names.pop("kind", None)
    ordered = sorted(names, key=lambda name: name.startswith("option_"))
    table = pd.DataFrame(
        {name: _column(path, records, name, columns.get(name) or further(name)) for name in ordered}
    )
    table.attrs["units"] = units(ordered)
    return table


def _column(path: Path, records: Sequence[Record], name: str, known: Kind | None) -> pd.Series[Any]:
    values = [record.fields.get(name) for record in records]
    kind = known or inferred(values)
    for record, value in zip(records, values, strict=True):
        if value is not None and not kind.fits(value):
            words = f"bad line: `{name}` is {value!r:.80}; expected type: {kind.name.lower()}"
            raise BadResults(path, words, record.line)
    return pd.Series(values, dtype=kind.value)
