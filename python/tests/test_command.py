"""Finding the command, and exceptions for its messages and exit codes, with a fake command."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import ipcperf
import pytest
from made import FOOTER, header, sample

StandIn = Callable[..., Path]


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """Makes a program that records its arguments, prints `stderr`, writes `results` and exits with `code`."""

    def made(code: int = 0, stderr: str = "", stdout: str = "", results: str = "") -> Path:
        path = tmp_path / "ipcperf"
        for name, text in (("stderr", stderr), ("stdout", stdout), ("results", results)):
            (tmp_path / name).write_text(text)
        path.write_text(
            "#!/bin/sh\n"
            f'cd "{tmp_path}"\n'
            'printf "%s\\n" "$@" >arguments\n'
            "cat stdout; cat stderr >&2\n"
            'for one; do case $one in --out=*) [ -s results ] && cp results "${one#--out=}";; esac; done\n'
            + (killed_by(-code) if code < 0 else f"exit {code}\n")
        )
        path.chmod(0o755)
        return path

    return made


def killed_by(number: int) -> str:
    """Returns the end of a script that dies of a signal, even if that is ignored, as in a background job."""
    words = f"import os, signal; signal.signal({number}, signal.SIG_DFL); os.kill(os.getpid(), {number})"
    return f'exec "{sys.executable}" -c "{words}"\n'


RESULTS = "".join(json.dumps(line) + "\n" for line in (header(), sample(), FOOTER))


def arguments(stand_in: Path) -> list[str]:
    """Returns the arguments that the fake command was given."""
    return (stand_in.parent / "arguments").read_text().splitlines()


def test_an_argument_counts_more_than_the_variable_and_that_more_than_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for name in ("a", "b", "c"):
        program = tmp_path / name / "ipcperf"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        found.append(program)
    monkeypatch.setenv("PATH", str(found[0].parent))
    monkeypatch.delenv("IPCPERF", raising=False)
    assert ipcperf.find_command() == found[0]
    monkeypatch.setenv("IPCPERF", str(found[1]))
    assert ipcperf.find_command() == found[1]
    assert ipcperf.find_command(found[2]) == found[2]


def test_the_program_of_the_same_environment_is_found_without_path(
    tmp_path: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = stand_in().rename(tmp_path / "ipcperf")
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("IPCPERF", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda kind: str(tmp_path) if kind == "scripts" else "/")
    assert ipcperf.find_command() == program


def test_a_link_is_called_by_its_own_name(tmp_path: Path, stand_in: StandIn) -> None:
    link = tmp_path / "link"
    link.symlink_to(stand_in())
    assert ipcperf.find_command(link) == link


def test_without_a_command_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("IPCPERF", raising=False)
    with pytest.raises(ipcperf.CommandNotFound, match="ipcperf is not in PATH: build it with `cargo build"):
        ipcperf.find_command()
    monkeypatch.setenv("IPCPERF", "/not/there")
    with pytest.raises(ipcperf.CommandNotFound, match=r"variable IPCPERF is '/not/there'"):
        ipcperf.find_command()


def test_a_study_is_asked_for_with_its_flags(stand_in: StandIn, tmp_path: Path) -> None:
    command, out = stand_in(results=RESULTS), tmp_path / "r.jsonl"
    results = ipcperf.run_study(
        "mine.toml",
        quick=True,
        only=["H1", "H2"],
        out=out,
        force=True,
        report=tmp_path / "r.html",
        command=command,
    )
    assert len(results.valid) == 1
    asked = ["study", "run", "mine.toml", "--quick", "--only=H1", "--only=H2", f"--report={tmp_path}/r.html"]
    assert arguments(command) == [*asked, f"--out={out}", "--force"]


def test_one_hypothesis_may_be_named_without_a_list(stand_in: StandIn, tmp_path: Path) -> None:
    command = stand_in(results=RESULTS)
    ipcperf.run_study("mine", only="H1", out=tmp_path / "r.jsonl", command=command)
    assert "--only=H1" in arguments(command)


def test_flags_of_run_are_those_of_the_command(stand_in: StandIn, tmp_path: Path) -> None:
    command = stand_in(results=RESULTS)
    ipcperf.run(
        ["pipe", "tcp"],
        buffer_sizes=[64, "4KiB"],
        out=tmp_path / "r.jsonl",
        command=command,
        kernel_buffer="match",
        verify=True,
        instrument=None,
        set={"pipe.capacity": ["4KiB", "1MiB"]},
        until_ci=2.5,
    )
    assert arguments(command)[1:-1] == [
        "--mechanism=pipe,tcp",
        "--workload=stream",
        "--buffer=64,4KiB",
        "--kernel-buffer=match",
        "--verify",
        "--set=pipe.capacity=4KiB,1MiB",
        "--until-ci=2.5",
    ]


def test_without_a_name_results_go_where_the_command_keeps_them(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    command = stand_in(results=RESULTS)
    first, second = (ipcperf.run("pipe", command=command) for _ in range(2))
    assert first.path.parent == tmp_path / "data" / "ipcperf"
    assert first.path != second.path


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (2, ipcperf.BadUsage),
        (3, ipcperf.NothingToRun),
        (4, ipcperf.SomeFailed),
        (5, ipcperf.NotWritten),
        (130, ipcperf.Interrupted),
        (101, ipcperf.CommandFailed),
    ],
)
def test_an_exit_code_is_an_exception_with_the_words_of_the_command(
    stand_in: StandIn, code: int, kind: type[ipcperf.CommandFailed]
) -> None:
    command = stand_in(code, stderr="ipcperf: no such luck\n3 samples in somewhere\n")
    with pytest.raises(ipcperf.CommandFailed) as told:
        ipcperf.run("pipe", out=command.with_name("r.jsonl"), command=command)
    assert type(told.value) is kind
    assert str(told.value) == "no such luck"
    assert told.value.exit_code == code
    assert told.value.stderr.endswith("somewhere\n")
    assert told.value.arguments[0] == "run"


def test_results_beside_failures_are_kept_and_warnings_are_none(stand_in: StandIn) -> None:
    said = "ipcperf: warning: hot (cool it)\nfailed: pipe/stream, first block (excluded): died: so\n"
    command = stand_in(4, stderr=said, results=RESULTS)
    with pytest.warns(ipcperf.MachineWarning), pytest.raises(ipcperf.SomeFailed) as told:
        ipcperf.run("pipe", out=command.with_name("r.jsonl"), command=command)
    assert str(told.value) == "failed: pipe/stream, first block (excluded): died: so"
    assert told.value.results is not None
    assert len(told.value.results.valid) == 1


def test_that_results_end_early_is_said_once(stand_in: StandIn) -> None:
    # Warnings are errors here: only the exception is raised.
    command = stand_in(130, stderr="ipcperf: interrupted\n", results=RESULTS.rsplit("\n", 2)[0] + "\n")
    with pytest.raises(ipcperf.Interrupted) as told:
        ipcperf.run("pipe", out=command.with_name("r.jsonl"), command=command)
    assert told.value.results is not None
    assert told.value.results.footer is None


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_dies_of_a_signal_that_asked_it_to_end_was_interrupted(
    stand_in: StandIn, asked: signal.Signals
) -> None:
    command = stand_in(-asked, stderr="ipcperf: interrupted\n", results=RESULTS)
    with pytest.raises(ipcperf.Interrupted) as told:
        ipcperf.run("pipe", out=command.with_name("r.jsonl"), command=command)
    assert told.value.exit_code == 130
    assert told.value.results is not None


def test_results_that_cannot_be_read_are_none(stand_in: StandIn) -> None:
    command = stand_in(5, stderr="ipcperf: no room\n", results="torn")
    with pytest.raises(ipcperf.NotWritten, match="no room") as told:
        ipcperf.run("pipe", out=command.with_name("r.jsonl"), command=command)
    assert told.value.results is None


def test_an_older_file_is_not_taken_for_what_was_refused(stand_in: StandIn) -> None:
    command = stand_in(2, stderr="ipcperf: r.jsonl exists\n", results=RESULTS)
    with pytest.raises(ipcperf.BadUsage) as told:
        ipcperf.run("pipe", out=command.with_name("r.jsonl"), command=command)
    assert told.value.results is None


def test_what_the_command_warns_of_becomes_a_warning(stand_in: StandIn) -> None:
    warned = "ipcperf: warning: idle CPUs halt (remedy)\nunavailable instrument: counters: none here\n"
    command = stand_in(stderr=warned, results=RESULTS)
    with pytest.warns(ipcperf.MachineWarning) as told:
        ipcperf.run("pipe", out=command.with_name("r.jsonl"), command=command)
    assert [str(one.message) for one in told] == [
        "idle CPUs halt (remedy)",
        "unavailable instrument: counters: none here",
    ]


def test_a_program_that_is_none_is_told(stand_in: StandIn) -> None:
    command = stand_in()
    command.write_text("#!/not/there\n")
    with pytest.raises(ipcperf.CommandNotFound, match="cannot start"):
        ipcperf.run("pipe", out=command.with_name("r.jsonl"), command=command)
