"""Files that are torn, edited, or not results files."""

from __future__ import annotations

import errno
import pickle
import re
from pathlib import Path

import ipcperf
import pytest
from made import FOOTER, Write, header, sample


def test_a_torn_last_line_is_left_out_with_a_warning(write: Write) -> None:
    path = write(header(), sample(), '{"kind":"sample","run_id":"1.1', end="")
    with pytest.warns(ipcperf.TornResults) as told:
        results = ipcperf.read(path)
    assert len(results.samples) == 1
    assert [str(one.message).split(": ", 1)[1][:21] for one in told] == [
        "the last line is inco",
        "no footer: the comman",
    ]
    assert not results.is_complete


def test_a_missing_footer_is_a_warning(write: Write) -> None:
    with pytest.warns(ipcperf.TornResults, match="no footer.*resume"):
        results = ipcperf.read(write(header(), sample()))
    assert results.footer is None
    assert len(results.valid) == 1


def test_a_footer_with_more_behind_it_ends_nothing(write: Write) -> None:
    with pytest.warns(ipcperf.TornResults, match="no footer"):
        results = ipcperf.read(write(header(), FOOTER, sample()))
    assert results.footer == FOOTER
    assert not results.is_complete


def test_nor_does_a_footer_with_a_torn_line_behind_it(write: Write) -> None:
    with pytest.warns(ipcperf.TornResults) as told:
        results = ipcperf.read(write(header(), FOOTER, '{"kind":', end=""))
    assert len(told) == 2
    assert not results.is_complete


def test_the_last_footer_counts(write: Write) -> None:
    results = ipcperf.read(write(header(), FOOTER | {"complete": False}, sample(), FOOTER))
    assert results.is_complete


def test_a_file_of_a_header_and_a_footer_has_tables_without_rows(write: Write) -> None:
    results = ipcperf.read(write(header(), FOOTER))
    assert results.valid.empty
    assert results.failures.empty
    assert results.valid["bandwidth_bytes_per_s"].median() is not None


def test_an_empty_file_is_reported(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(ipcperf.BadResults, match="the file is empty"):
        ipcperf.read(empty)


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ("", "the first line is not a header"),
        ("hello", "the first line is not a header"),
        ("[1]", "the first line is not a header"),
        (sample(), "the first line is not a header"),
        ({"kind": "header"}, "line 1: bad header"),
        (header(schema="1"), "line 1: bad header"),
        (header(schema=3), "written by a newer ipcperf (schema 3)"),
        (header(schema=1), "written by an older ipcperf (schema 1)"),
    ],
)
def test_a_bad_header_is_told(write: Write, first: object, words: str) -> None:
    with pytest.raises(ipcperf.BadResults, match=re.escape(words)):
        ipcperf.read(write(first, sample(), FOOTER))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"kind":"sam', "bad line"),
        ("[]", "bad line: not an object"),
        ("", "bad line"),
        ("[" * 100_000, "bad line"),
        ({"kind": "simple"}, "unknown kind 'simple'"),
        ({"kind": ["sample"]}, "unknown kind"),
        ({"kind": "sample", "run_id": "1.0.1"}, "no `block`"),
        (sample(elapsed_ns="soon"), "`elapsed_ns` is 'soon'; expected type: integer"),
        (sample(elapsed_ns=True), "`elapsed_ns` is True"),
        (sample(elapsed_ns=1.5), "`elapsed_ns` is 1.5"),
        (sample(elapsed_ns=2**63), f"`elapsed_ns` is {2**63}"),
        (sample(mechanism=7), "`mechanism` is 7; expected type: text"),
        (sample(verify="no"), "`verify` is 'no'; expected type: boolean"),
        (sample(options=[]), "`options` is not an object"),
        ('{"kind":"footer","complete":NaN}', "NaN is not JSON"),
        ({"kind": "footer", "complete": "yes"}, "`complete` is neither true nor false"),
        (header(), "a second header"),
    ],
)
def test_a_bad_line_inside_is_told_with_its_number(write: Write, line: object, words: str) -> None:
    path = write(header(), sample(), line, FOOTER)
    with pytest.raises(ipcperf.BadResults, match=re.escape(words)) as told:
        ipcperf.read(path)
    assert told.value.line == 3
    assert str(told.value).startswith(f"{path}: line 3: ")


def test_bytes_that_are_no_text_are_a_bad_line(write: Write) -> None:
    path = write(header(), sample(), FOOTER)
    path.write_bytes(path.read_bytes().replace(b'"1.0.1"', b'"\xff"'))
    with pytest.raises(ipcperf.BadResults) as told:
        ipcperf.read(path)
    assert told.value.line == 2


def test_a_missing_file_is_an_error_of_the_package_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "gone.jsonl"
    with pytest.raises(ipcperf.UnreadableResults) as told:
        ipcperf.read(path)
    assert isinstance(told.value, ipcperf.IpcperfError)
    assert str(told.value).startswith(f"cannot read {path}: No such file or directory; check the path")
    assert told.value.path == path
    assert told.value.errno == errno.ENOENT


@pytest.mark.parametrize("path", ["gone.jsonl", "bad.jsonl"])
def test_an_exception_survives_being_pickled(tmp_path: Path, path: str) -> None:
    (tmp_path / "bad.jsonl").write_text("no results\n")
    with pytest.raises(ipcperf.IpcperfError) as raised:
        ipcperf.read(tmp_path / path)
    restored = pickle.loads(pickle.dumps(raised.value))
    assert type(restored) is type(raised.value)
    assert str(restored) == str(raised.value)
    for attribute in ("path", "errno", "line"):
        assert getattr(restored, attribute, None) == getattr(raised.value, attribute, None)


def test_a_failure_of_the_command_survives_being_pickled() -> None:
    failed = ipcperf.BadUsage("bad words", exit_code=2, arguments=["run"], stderr="ipcperf: bad words\n")
    restored = pickle.loads(pickle.dumps(failed))
    assert isinstance(restored, ipcperf.BadUsage)
    assert str(restored) == "bad words"
    assert vars(restored) == vars(failed)


def test_a_folder_is_not_a_results_file(tmp_path: Path) -> None:
    with pytest.raises(ipcperf.UnreadableResults, match="name a file in this folder"):
        ipcperf.read(tmp_path)


def test_keys_of_a_later_ipcperf_are_let_be_and_typed_by_what_they_hold(write: Write) -> None:
    more = {"sender_naps": 3, "shiny_ns": 1.5, "mood": "fine", "is_new": True, "list": [1], "none": None}
    samples = ipcperf.read(write(header(), sample(**more), sample(run_id="1.1.1"), FOOTER)).samples
    kinds = samples[list(more)].dtypes.astype(str)
    assert list(kinds) == ["Int64", "float64", "string", "boolean", "object", "float64"]
    assert samples["mood"].isna().tolist() == [False, True]


def test_options_are_columns_and_absent_where_not_set(write: Write) -> None:
    options = {"capacity": "4096", "wait": "poll"}
    runs = sample(options=options), sample(sender_calls=3)
    samples = ipcperf.read(write(header(), *runs, FOOTER)).samples
    assert list(samples.columns[-2:]) == ["option_capacity", "option_wait"]
    assert samples["option_capacity"].isna().tolist() == [False, True]
    assert samples.groupby("option_wait")["messages"].sum().to_dict() == {"poll": 10}


def test_failures_say_what_happened(write: Write) -> None:
    failure = sample(
        kind="failure", what="timeout", where="the run did not end within 10 s", errno=None, remedy=None
    )
    failures = ipcperf.read(write(header(), sample(), failure, FOOTER)).failures
    assert failures["what"].tolist() == ["timeout"]
    assert str(failures["errno"].dtype) == "Int64"
