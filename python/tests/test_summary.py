"""What ``print(results)`` shows."""

from __future__ import annotations

from pathlib import Path

import ipcperf
import pytest
from made import FOOTER, Write, header, sample

MOST_COLUMNS = 100


def test_the_summary_names_file_machine_and_counts(write: Write) -> None:
    environment = {
        "cpu_model": "A processor",
        "allowed_cpus": "0-3",
        "kernel": "Linux 6.18",
        "hypervisor": True,
    }
    runs = [
        sample(excluded="first", repetition=0),
        sample(run_id="1.1.1", bandwidth_bytes_per_s=640),
        sample(run_id="1.1.2", case_id="tcp", mechanism="tcp", excluded="disturbed"),
    ]
    path = write(header(environment=environment), *runs, FOOTER)
    assert [" ".join(line.split()) for line in str(ipcperf.read(path)).splitlines()] == [
        f"ipcperf results {path}",
        "machine: A processor, CPUs 0-3, Linux 6.18, virtual machine",
        "2 cases, 1 valid run, 2 excluded (1 first, 1 disturbed), 0 failed",
        "mechanism buffer_bytes bandwidth_bytes_per_s",
        "pipe 64 640",
    ]


def test_a_case_that_only_failed_is_counted(write: Write) -> None:
    failure = sample(kind="failure", case_id="tcp", what="timeout", where="the run did not end")
    text = str(ipcperf.read(write(header(), sample(), failure, FOOTER)))
    assert "2 cases, 1 valid run, 0 excluded, 1 failed" in text


def test_a_file_without_runs_and_without_facts_has_a_summary(write: Write) -> None:
    path = write(header(), FOOTER)
    assert str(ipcperf.read(path)).splitlines() == [
        f"ipcperf results {path}",
        "0 cases, 0 valid runs, 0 excluded, 0 failed",
    ]


def test_results_that_are_incomplete_say_so(write: Write) -> None:
    results = ipcperf.read(write(header(), sample(), FOOTER | {"complete": False}))
    assert "incomplete: some runs of the plan are missing" in str(results)


@pytest.mark.parametrize("name", ["three-mechanisms", "watched", "synthetic-counters"])
def test_the_summary_is_short(monkeypatch: pytest.MonkeyPatch, recorded: Path, name: str) -> None:
    monkeypatch.chdir(recorded)
    results = ipcperf.read(f"{name}.jsonl")
    lines = repr(results).splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= MOST_COLUMNS
    assert results.samples["mechanism"].iloc[0] in repr(results)


def test_what_is_not_shown_is_counted(write: Write) -> None:
    runs = [sample(run_id=f"1.{number}.1", mechanism="lib:/" + "x" * 90) for number in range(8)]
    lines = str(ipcperf.read(write(header(), *runs, FOOTER))).splitlines()
    assert lines[-1] == "... 3 more in `results.valid`"
    assert max(map(len, lines[1:])) <= MOST_COLUMNS
