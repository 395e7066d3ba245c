"""Units, which are the suffixes of names: ``elapsed_ns``, ``bandwidth_bytes_per_s``."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Longer endings first: bytes per second are not seconds.
_ENDINGS = {
    "bytes_per_s": "bytes/s",
    "per_s": "1/s",
    "bytes": "bytes",
    "ns": "ns",
    "us": "us",
    "s": "s",
    "hz": "Hz",
    "khz": "kHz",
    "share": "1",
}
# A statistic may follow the unit: round_trip_ns_p99, percentiles_ns.p50.
_UNIT = re.compile(rf"_({'|'.join(_ENDINGS)})(?:[_.](?:p\d+|least|max|mean))?$")


def unit(column: str) -> str | None:
    """Returns the unit of a column from its name; None if it has none.

    >>> unit("bandwidth_bytes_per_s"), unit("round_trip_ns_p99"), unit("messages")
    ('bytes/s', 'ns', None)
    """
    found = _UNIT.search(column)
    return None if found is None else _ENDINGS[found.group(1)]


def units(columns: Iterable[str]) -> dict[str, str]:
    """Returns the units of those `columns` that have one."""
    found = {column: unit(column) for column in columns}
    return {column: name for column, name in found.items() if name is not None}
