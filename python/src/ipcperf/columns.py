"""Columns of samples and failures: names, order and types.

A test compares them with docs/results.schema.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum


class Kind(Enum):
    """Type of a column; the value is its type in pandas."""

    INTEGER = "Int64"
    NUMBER = "float64"
    TEXT = "string"
    BOOLEAN = "boolean"
    ANYTHING = "object"

    def fits(self, value: object) -> bool:
        """Returns whether `value`, which is not null, is of this kind."""
        return _FITS[self](value)


# Upper bound of integers in pandas. Numbers in a file may exceed it, but no measured value comes close.
_MOST = 2**63


def _is_integer(value: object) -> bool:
    return type(value) is int and -_MOST <= value < _MOST


_FITS: dict[Kind, Callable[[object], bool]] = {
    Kind.INTEGER: _is_integer,
    Kind.NUMBER: lambda value: type(value) is float or _is_integer(value),
    Kind.TEXT: lambda value: type(value) is str,
    Kind.BOOLEAN: lambda value: type(value) is bool,
    Kind.ANYTHING: lambda _: True,
}

Columns = dict[str, Kind]

RUN: Columns = {
    "seq": Kind.INTEGER,
    "run_id": Kind.TEXT,
    "block": Kind.INTEGER,
    "attempt": Kind.INTEGER,
    "repetition": Kind.INTEGER,
    "case_id": Kind.TEXT,
    "mechanism": Kind.TEXT,
    "workload": Kind.TEXT,
    "mode": Kind.TEXT,
    "placement": Kind.TEXT,
    "cpus": Kind.TEXT,
    "buffer_bytes": Kind.INTEGER,
    "message_sizes": Kind.TEXT,
    "kernel_buffer": Kind.TEXT,
    "kernel_buffer_requested_bytes": Kind.INTEGER,
    "touch": Kind.TEXT,
    "payload": Kind.TEXT,
    "buffers": Kind.TEXT,
    "first_touch": Kind.TEXT,
    "reply": Kind.TEXT,
    "reply_bytes": Kind.INTEGER,
    "verify": Kind.BOOLEAN,
}

# Distribution of round trips, of a run or of one of its peers.
ROUND_TRIPS: Columns = {
    "round_trip_ns_p50": Kind.INTEGER,
    "round_trip_ns_p90": Kind.INTEGER,
    "round_trip_ns_p99": Kind.INTEGER,
    "round_trip_ns_p999": Kind.INTEGER,
    "round_trip_ns_max": Kind.INTEGER,
    "round_trip_ns_mean": Kind.NUMBER,
}

SAMPLE: Columns = RUN | {
    "excluded": Kind.TEXT,
    "cpu_pair_class": Kind.TEXT,
    "total_bytes": Kind.INTEGER,
    "kernel_buffer_granted_bytes": Kind.INTEGER,
    "instruments": Kind.TEXT,
    "twin_of": Kind.TEXT,
    "began_ns": Kind.INTEGER,
    "elapsed_ns": Kind.INTEGER,
    "bandwidth_bytes_per_s": Kind.INTEGER,
    "messages": Kind.INTEGER,
    "lost_messages": Kind.INTEGER,
    "short_writes": Kind.INTEGER,
    "short_reads": Kind.INTEGER,
    "calibration_phases": Kind.INTEGER,
    "warm_up_ns": Kind.INTEGER,
    "warm_up_slices_ns": Kind.ANYTHING,
    "kernel_thread_ns": Kind.INTEGER,
    "cpu_ns_per_message": Kind.NUMBER,
    **ROUND_TRIPS,
    "round_trip_timed_every": Kind.INTEGER,
    "round_trip_histogram": Kind.TEXT,
    "cacheline_round_trip_ns": Kind.NUMBER,
    "cacheline_round_trip_before_ns": Kind.NUMBER,
    "cacheline_round_trip_after_ns": Kind.NUMBER,
    "run_delay_ns": Kind.INTEGER,
    "steal_ns": Kind.INTEGER,
    "user_system_split": Kind.TEXT,
}

# Keys that only paced cases have.
PACED_RUN: Columns = {
    "rate_per_s": Kind.INTEGER,
    "arrivals": Kind.TEXT,
    "pacer": Kind.TEXT,
    "scheduled_messages": Kind.INTEGER,
}

PACED: Columns = PACED_RUN | {
    "scheduled_per_s": Kind.NUMBER,
    "achieved_per_s": Kind.NUMBER,
    "saturated": Kind.BOOLEAN,
    "backlog_messages": Kind.INTEGER,
    "pacer_gap_share": Kind.NUMBER,
    "pacer_gap_ns_p50": Kind.INTEGER,
    "pacer_gap_ns_max": Kind.INTEGER,
    "pacer_behind_share": Kind.NUMBER,
    "pacer_behind_ns_p50": Kind.INTEGER,
    "pacer_behind_ns_max": Kind.INTEGER,
    "pacer_error_ns_p95": Kind.INTEGER,
    "pacer_error_ns_p99": Kind.INTEGER,
    "pacer_error_ns_p999": Kind.INTEGER,
    "pacer_cpu_ns": Kind.INTEGER,
    "clock_uncertainty_ns": Kind.NUMBER,
    "one_way_ns_p50": Kind.INTEGER,
    "one_way_ns_p90": Kind.INTEGER,
    "one_way_ns_p99": Kind.INTEGER,
    "one_way_ns_p999": Kind.INTEGER,
    "one_way_ns_max": Kind.INTEGER,
    "one_way_ns_mean": Kind.NUMBER,
    "one_way_histogram": Kind.TEXT,
    "outside_gaps_ns_p99": Kind.INTEGER,
    "outside_gaps_histogram": Kind.TEXT,
    "one_way_from_send_ns_p50": Kind.INTEGER,
    "one_way_from_send_ns_p90": Kind.INTEGER,
    "one_way_from_send_ns_p99": Kind.INTEGER,
    "one_way_from_send_ns_p999": Kind.INTEGER,
    "one_way_from_send_ns_max": Kind.INTEGER,
    "one_way_from_send_histogram": Kind.TEXT,
    "round_trip_from_send_ns_p50": Kind.INTEGER,
    "round_trip_from_send_ns_p90": Kind.INTEGER,
    "round_trip_from_send_ns_p99": Kind.INTEGER,
    "round_trip_from_send_ns_p999": Kind.INTEGER,
    "round_trip_from_send_ns_max": Kind.INTEGER,
    "round_trip_from_send_histogram": Kind.TEXT,
}

# Keys that only cases with several peers have.
PEERS_RUN: Columns = {"peers": Kind.INTEGER}

SEVERAL_PEERS: Columns = PEERS_RUN | {
    "slowest_peer_per_s": Kind.NUMBER,
    "fastest_peer_per_s": Kind.NUMBER,
    "fairness": Kind.NUMBER,
}

PEER: Columns = {
    "seq": Kind.INTEGER,
    "run_id": Kind.TEXT,
    "case_id": Kind.TEXT,
    "role": Kind.TEXT,
    "peer": Kind.INTEGER,
    "cpu": Kind.INTEGER,
    "elapsed_ns": Kind.INTEGER,
    "messages": Kind.INTEGER,
    "messages_per_s": Kind.NUMBER,
    "cpu_ns": Kind.INTEGER,
    "voluntary_switches": Kind.INTEGER,
    "involuntary_switches": Kind.INTEGER,
    "run_delay_ns": Kind.INTEGER,
    "one_way_ns_p50": Kind.INTEGER,
    "one_way_ns_p90": Kind.INTEGER,
    "one_way_ns_p99": Kind.INTEGER,
    "one_way_ns_max": Kind.INTEGER,
    **ROUND_TRIPS,
}

FAILURE: Columns = RUN | {
    "what": Kind.TEXT,
    "where": Kind.TEXT,
    "role": Kind.TEXT,
    "errno": Kind.INTEGER,
    "remedy": Kind.TEXT,
    "transient": Kind.BOOLEAN,
}

OBSERVATION: Columns = {"run_id": Kind.TEXT, "instrument": Kind.TEXT, "role": Kind.TEXT}

# Keys for one role of a run: times, calls, faults, switches.
_OF_A_ROLE = re.compile(r"(sender|receiver|both|broker)_")


def of_a_run(name: str) -> Kind | None:
    """Returns the kind of a key that only some runs have: of an option, rate, peers or role. Else None."""
    only_some = PACED | SEVERAL_PEERS
    if name in only_some:
        return only_some[name]
    if name.startswith("option_"):
        return Kind.TEXT
    return Kind.INTEGER if _OF_A_ROLE.match(name) else None


def inferred(values: Iterable[object]) -> Kind:
    """Infers the kind of a column of a later ipcperf or of an instrument."""
    present = [value for value in values if value is not None]
    if not present:
        return Kind.NUMBER
    kinds = (Kind.BOOLEAN, Kind.INTEGER, Kind.NUMBER, Kind.TEXT)
    return next((kind for kind in kinds if all(map(kind.fits, present))), Kind.ANYTHING)
