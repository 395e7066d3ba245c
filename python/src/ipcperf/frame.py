"""Records of a results file as tables: a row for each, a column for each key, with proper types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipcperf.columns import OBSERVATION, Columns, Kind, inferred, of_a_run
from ipcperf.errors import BadResults
from ipcperf.lines import Fields, Record
from ipcperf.suffixes import units

# What a file of an older ipcperf says nothing of was then always so.
_ONCE_ALWAYS = {"touch": "none", "payload": "constant", "buffers": "hot", "first_touch": "after-fork"}


def of_runs(path: Path, records: Sequence[Record], columns: Columns) -> pd.DataFrame:
    """A table of samples or failures: `columns`, whatever else is there, then one for each option.

    Lists become text with commas between (``cpus``, ``instruments``), the options of mechanisms a column
    ``option_NAME`` each, so that all of them can be grouped by.

    Raises:
        BadResults: a key that is known holds what it cannot.
    """
    plain = [Record(line, _plain(fields)) for line, fields in records]
    return _table(path, plain, columns, of_a_run)


def of_observations(path: Path, records: Sequence[Record]) -> dict[str, pd.DataFrame]:
    """A table for each instrument, columns as the instrument calls them.

    A field within a field is named with a point, as in studies: ``percentiles_ns.p50``.

    Raises:
        BadResults: ``run_id``, ``instrument`` or ``role`` is no text.
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
    for name in ("cpus", "instruments"):
        if isinstance(plain.get(name), list):
            plain[name] = ",".join(map(str, plain[name]))
    return plain | {f"option_{name}": value for name, value in options.items()}


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
            words = f"bad line: `{name}` is {value!r:.80}, where {kind.name.lower()} belongs"
            raise BadResults(path, words, record.line)
    return pd.Series(values, dtype=kind.value)
