"""Short measurements with the real command: what it writes is read back.

A busy machine may disturb every run of a case: no test assumes that a run is valid.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import ipcperf
import pytest
from ipcperf.command import invoke

# Two sizes of a pipe and a socket, five repetitions: takes seconds, and is quick to judge.
STUDY = """
name = "small"
title = "Small"
question = "Does a larger buffer carry more?"

[sampling]
repetitions = 5
timeout = 600

[[matrix]]
mechanism = ["pipe", "unix-stream"]
buffer = "64,64KiB"
mode = "2thread"
total = "1MiB"

[[hypothesis]]
id = "H1"
claim = "Large buffers beat small ones."
test = "faster-than"
over = "mechanism"
first = { buffer = "64KiB" }
second = { buffer = "64" }

[[hypothesis]]
id = "H2"
claim = "A pipe beats a socket."
test = "faster-than"
first = { mechanism = "pipe" }
second = { mechanism = "unix-stream" }
"""


@pytest.fixture(autouse=True)
def _on_any_machine() -> Iterator[None]:
    """Ignores warnings of the command about this machine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ipcperf.MachineWarning)
        yield


def test_a_study_is_measured_read_and_judged(command: Path, tmp_path: Path) -> None:
    study = tmp_path / "small.toml"
    study.write_text(STUDY)
    results = ipcperf.run_study(study, out=tmp_path / "r.jsonl", report=tmp_path / "r.html", command=command)
    assert results.is_complete
    assert results.header["study"] == "small"
    assert results.samples.groupby("case_id")["block"].nunique().tolist() == [6, 6, 6, 6]
    assert (results.valid["bandwidth_bytes_per_s"] > 0).all()
    assert (results.valid["total_bytes"] == 2**20).all()
    assert "<html" in (tmp_path / "r.html").read_text()[:1000]
    judged = ipcperf.verdicts(results.path, command=command)
    assert judged["id"].tolist() == ["H1", "H2"]
    assert judged["verdict"].isin(["supported", "rejected", "inconclusive", "not testable here"]).all()
    assert set(ipcperf.parts(judged)["id"]) <= {"H1", "H2"}


def test_only_what_a_hypothesis_needs_is_measured(command: Path, tmp_path: Path) -> None:
    study = tmp_path / "small.toml"
    study.write_text(STUDY)
    results = ipcperf.run_study(study, quick=True, only="H1", out=tmp_path / "r.jsonl", command=command)
    assert results.header["quick"] is True
    assert results.header["study_only"] == ["H1"]
    assert ipcperf.verdicts(results.path, command=command)["id"].tolist() == ["H1"]


def test_medians_and_quartiles_are_those_of_the_command(command: Path, tmp_path: Path) -> None:
    results = ipcperf.run(
        ["pipe", "unix-stream"],
        buffer_sizes=[64, 4096],
        total=65536,
        repetitions=6,
        out=tmp_path / "r.jsonl",
        command=command,
    )
    shown = json.loads(invoke(command, ["show", "--json", str(results.path)]).stdout)
    spreads = {case["case_id"]: case["bandwidth_bytes_per_s"] for case in shown}
    by_case = results.valid.groupby("case_id")["bandwidth_bytes_per_s"]
    assert len(spreads) == 4
    for case_id, values in by_case:
        quartiles = values.quantile([0.25, 0.5, 0.75]).tolist()
        spread = spreads[str(case_id)]
        assert [*quartiles, len(values)] == [spread["q1"], spread["median"], spread["q3"], spread["n"]]


def test_round_trips_have_means_and_streams_have_bandwidths(command: Path, tmp_path: Path) -> None:
    results = ipcperf.run(
        ["pipe", "eventfd"], ["stream", "round-trip"], 8, total=8192, repetitions=3, out=tmp_path / "r.jsonl",
        command=command,
    )  # fmt: skip
    is_trip = results.valid["workload"] == "round-trip"
    trips, streams = results.valid[is_trip], results.valid[~is_trip]
    assert (trips["round_trip_ns_mean"] > 0).all()
    assert trips["bandwidth_bytes_per_s"].isna().all()
    assert (streams["bandwidth_bytes_per_s"] > 0).all()
    assert streams["round_trip_ns_mean"].isna().all()
    assert (results.valid["messages"] == 1024).all()


def test_options_come_back_as_columns(command: Path, tmp_path: Path) -> None:
    results = ipcperf.run(
        "pipe,unix-stream", buffer_sizes="4KiB", total="64KiB", repetitions=1, out=tmp_path / "r.jsonl",
        set={"pipe.capacity": ["4KiB", "64KiB"]}, command=command,
    )  # fmt: skip
    by_option = results.samples.groupby(["mechanism", "option_capacity"], dropna=False).size()
    assert len(by_option) == 3
    assert set(results.samples.loc[results.samples["option_capacity"].isna(), "mechanism"]) == {"unix-stream"}


def test_mistakes_are_bad_usage_in_the_words_of_the_command(command: Path, tmp_path: Path) -> None:
    with pytest.raises(ipcperf.BadUsage, match="did you mean `unix-stream`"):
        ipcperf.run("unix-steam", out=tmp_path / "r.jsonl", command=command)
    with pytest.raises(ipcperf.BadUsage, match="no-such-study"):
        ipcperf.run_study("no-such-study", out=tmp_path / "r.jsonl", command=command)
    (tmp_path / "old.jsonl").write_text("precious\n")
    with pytest.raises(ipcperf.BadUsage, match="--force"):
        ipcperf.run("pipe", total=640, buffer_sizes=64, out=tmp_path / "old.jsonl", command=command)
    with pytest.raises(ipcperf.BadUsage, match="not a header"):
        ipcperf.verdicts(tmp_path / "old.jsonl", command=command)


def test_what_cannot_run_is_nothing_to_run(command: Path, tmp_path: Path) -> None:
    with pytest.raises(ipcperf.NothingToRun, match="none of the requested cases can run here"):
        ipcperf.run(f"exec:{tmp_path}/gone", out=tmp_path / "r.jsonl", command=command)


def test_some_failed_and_the_rest_is_kept(command: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("#!/bin/sh\necho oh no >&2\nexit 7\n")
    bad.chmod(0o755)
    with pytest.raises(ipcperf.SomeFailed, match="oh no") as told:
        ipcperf.run(
            f"exec:{bad},pipe",
            buffer_sizes=64,
            total=640,
            repetitions=1,
            out=tmp_path / "r.jsonl",
            command=command,
        )
    results = told.value.results
    assert results is not None
    assert set(results.samples["mechanism"]) == {"pipe"}
    assert set(results.failures["what"]) == {"died"}
    assert len(results.failures) == 2


def test_what_cannot_be_written_is_told(command: Path, tmp_path: Path) -> None:
    with pytest.raises(ipcperf.NotWritten, match="cannot write"):
        ipcperf.run("pipe", total=640, buffer_sizes=64, out=tmp_path / "gone" / "r.jsonl", command=command)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Enables interrupts, which are ignored in background jobs of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_command_in_order(command: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    # Sent to this process only, like an interrupt of a notebook's kernel, once something has been measured.
    threading.Thread(target=_interrupt_when_under_way, args=(out,), daemon=True).start()
    with pytest.raises(ipcperf.Interrupted) as told:
        ipcperf.run("pipe", buffer_sizes="4KiB", repetitions=5000, out=out, command=command)
    results = told.value.results
    assert results is not None
    assert len(results.samples) > 0
    assert results.footer is not None
    assert not results.is_complete


def _interrupt_when_under_way(out: Path) -> None:
    pause = threading.Event()
    while not out.exists() or out.read_text().count("\n") < 5:
        pause.wait(0.05)
    os.kill(os.getpid(), signal.SIGINT)
