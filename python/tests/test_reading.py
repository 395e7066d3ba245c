"""Reading of recorded files: all contents, with types and units."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import ipcperf
import pytest
from ipcperf import suffixes


def test_every_sample_is_a_row_and_every_number_is_as_it_was_written(recorded: Path) -> None:
    path = recorded / "three-mechanisms.jsonl"
    results = ipcperf.read(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    samples = [line for line in lines if line["kind"] == "sample"]
    assert len(results.samples) == len(samples) == 64
    for name in ("elapsed_ns", "bandwidth_bytes_per_s", "round_trip_ns_mean", "receiver_cpu_ns", "began_ns"):
        column = results.samples[name]
        found = [None if missing else value for value, missing in zip(column, column.isna(), strict=True)]
        assert found == [sample[name] for sample in samples], name


def test_columns_have_proper_types(recorded: Path) -> None:
    kinds = ipcperf.read(recorded / "three-mechanisms.jsonl").samples.dtypes.astype(str)
    assert kinds["elapsed_ns"] == kinds["bandwidth_bytes_per_s"] == kinds["sender_system_ns"] == "Int64"
    assert kinds["round_trip_ns_mean"] == kinds["cacheline_round_trip_ns"] == "float64"
    assert kinds["mechanism"] == kinds["excluded"] == kinds["cpus"] == "string"
    assert kinds["verify"] == "boolean"


def test_excluded_runs_are_not_valid_and_still_there(recorded: Path) -> None:
    results = ipcperf.read(recorded / "three-mechanisms.jsonl")
    assert results.valid["excluded"].isna().all()
    assert set(results.excluded["excluded"]) >= {"first"}
    assert len(results.valid) + len(results.excluded) == len(results.samples)
    assert (results.valid["repetition"] > 0).all()


def test_names_can_be_grouped_by_without_cells_that_were_not_measured(recorded: Path) -> None:
    valid = ipcperf.read(recorded / "three-mechanisms.jsonl").valid
    streams = valid[valid["workload"] == "stream"]
    medians = streams.groupby(["mechanism", "buffer_bytes", "placement"])["bandwidth_bytes_per_s"].median()
    assert (medians > 0).all()
    assert ("udp", 262144, "same") not in medians.index


def test_units_are_read_off_names(recorded: Path) -> None:
    units = ipcperf.read(recorded / "three-mechanisms.jsonl").samples.attrs["units"]
    assert units["bandwidth_bytes_per_s"] == "bytes/s"
    assert units["elapsed_ns"] == units["round_trip_ns_p999"] == units["sender_cpu_ns"] == "ns"
    assert units["buffer_bytes"] == "bytes"
    assert "messages" not in units
    assert "mechanism" not in units


def test_what_the_examples_in_docstrings_print() -> None:
    tried = doctest.testmod(suffixes)
    assert (tried.attempted, tried.failed) == (1, 0)


def test_observations_are_tables_by_instrument(recorded: Path) -> None:
    results = ipcperf.read(recorded / "watched.jsonl")
    assert {"rusage", "syscalls", "sched", "strace"} <= set(results.observations)
    seen = results.observations["syscalls"]
    assert str(seen["returned_bytes"].dtype) == "Int64"
    assert seen["percentiles_ns.p50"].notna().any()
    assert seen.attrs["units"]["percentiles_ns.p50"] == "ns"


def test_observations_stand_beside_the_case_they_are_of(recorded: Path) -> None:
    results = ipcperf.read(recorded / "watched.jsonl")
    observed = results.observed("syscalls")
    assert set(observed["run_id"]) <= set(results.valid["run_id"])
    assert set(observed["case_id"]) == {"pipe/stream/2proc/same/4096/instrument=syscalls"}
    written = observed[observed["syscall"] == "write"]
    assert (written["returned_bytes"] == written["total_bytes"]).all()
    watched = results.valid[results.valid["instruments"].str.contains("syscalls")]
    assert watched["twin_of"].isna().all()


def test_an_instrument_that_saw_nothing_is_told_with_those_that_did(recorded: Path) -> None:
    results = ipcperf.read(recorded / "watched.jsonl")
    words = r"no observations of profile .*; instruments with observations: .*sched"
    with pytest.raises(ipcperf.NotObserved, match=words):
        results.observed("profile")


def test_an_older_file_has_all_columns_and_everything_as_usual(recorded: Path) -> None:
    samples = ipcperf.read(recorded / "before-more-environment.jsonl").samples
    assert set(samples["touch"]) == {"none"}
    assert set(samples["first_touch"]) == {"after-fork"}
    assert samples["reply"].isna().all()


@pytest.mark.parametrize(
    "name", ["three-mechanisms", "watched", "synthetic-counters", "before-more-environment"]
)
def test_files_that_ended_are_complete_and_read_without_warning(recorded: Path, name: str) -> None:
    # Warnings are errors here.
    results = ipcperf.read(recorded / f"{name}.jsonl")
    assert results.is_complete
    assert results.footer is not None
    assert results.footer["samples"] == len(results.samples)
    assert results.failures.empty
    assert results.header["plan"]["cases"]
