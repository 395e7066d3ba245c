"""Lines of a results file, unchanged.

docs/results.schema.json defines the contents of each kind of line; this module checks only the keys that
everything else depends on. Unknown keys come from a later ipcperf and are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ipcperf.errors import BadResults

SCHEMA = 2

Fields = dict[str, Any]


class Record(NamedTuple):
    """A line: its number in the file, from 1, and its fields."""

    line: int
    fields: Fields


@dataclass
class Lines:
    """All lines of a file, by kind."""

    header: Fields
    samples: list[Record] = field(default_factory=list)
    peers: list[Record] = field(default_factory=list)
    observations: list[Record] = field(default_factory=list)
    failures: list[Record] = field(default_factory=list)
    footer: Fields | None = None
    # Whether that footer is the last line; otherwise the command that wrote the lines after it did not
    # finish.
    is_closed: bool = False
    is_torn: bool = False


_RUN = ("run_id", "block", "attempt", "repetition", "case_id", "mechanism", "options", "buffer_bytes")
# Keys that a line must have to be usable.
_NEEDED = {
    "sample": (*_RUN, "elapsed_ns", "messages"),
    "peer": ("run_id", "role", "peer"),
    "observation": ("run_id", "instrument"),
    "failure": (*_RUN, "what", "where"),
    "footer": ("complete",),
}


def read_lines(path: Path) -> Lines:
    """Reads the file at `path`.

    Raises:
        OSError: the file cannot be read.
        BadResults: the header, or a line other than the last, is invalid.
    """
    with path.open("rb") as file:
        lines = Lines(_header(path, file.readline()))
        for number, raw in enumerate(file, start=2):
            if not raw.endswith(b"\n"):
                lines.is_torn, lines.is_closed = True, False
                break
            _add(lines, path, Record(number, _parsed(path, raw, number)))
    return lines


def _header(path: Path, raw: bytes) -> Fields:
    if not raw:
        raise BadResults(path, "not an ipcperf results file: the file is empty")
    try:
        header = _parsed(path, raw, 1)
    except BadResults:
        header = {}
    if header.get("kind") != "header":
        raise BadResults(path, "not an ipcperf results file: the first line is not a header")
    version = header.get("schema")
    if type(version) is not int or version < 1 or not isinstance(header.get("plan"), dict):
        raise BadResults(path, "bad header: no schema version, or no plan", 1)
    if version > SCHEMA:
        words = f"written by a newer ipcperf (schema {version}); this package reads {SCHEMA}: update it"
        raise BadResults(path, words)
    if version < SCHEMA:
        words = f"written by an older ipcperf (schema {version}); this package reads {SCHEMA}: measure again"
        raise BadResults(path, words)
    return header


def _parsed(path: Path, raw: bytes, number: int) -> Fields:
    try:
        value = json.loads(raw.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadResults(path, f"bad line: {error}", number) from error
    if not isinstance(value, dict):
        raise BadResults(path, "bad line: not an object", number)
    return value


def _refuse(constant: str) -> NoReturn:
    """Refuses NaN and Infinity, which Python accepts but JSON does not have."""
    raise ValueError(f"{constant} is not JSON")


def _add(lines: Lines, path: Path, record: Record) -> None:
    kind = record.fields.get("kind")
    if kind == "header":
        raise BadResults(path, "a second header", record.line)
    lacking = list(_lacking(kind, record.fields))
    if lacking:
        raise BadResults(path, f"bad line: {', '.join(lacking)}", record.line)
    lines.is_closed = kind == "footer"
    if kind == "footer":
        lines.footer = record.fields
    else:
        of_kind = {
            "sample": lines.samples,
            "peer": lines.peers,
            "observation": lines.observations,
            "failure": lines.failures,
        }
        of_kind[str(kind)].append(record)


def _lacking(kind: object, fields: Fields) -> Iterator[str]:
    if not isinstance(kind, str) or kind not in _NEEDED:
        yield f"unknown kind {kind!r:.80}"
        return
    yield from (f"no `{key}`" for key in _NEEDED[kind] if fields.get(key) is None)
    if kind == "footer" and type(fields.get("complete")) is not bool:
        yield "`complete` is neither true nor false"
    if not isinstance(fields.get("options", {}), dict):
        yield "`options` is not an object"
