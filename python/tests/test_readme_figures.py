"""scripts/readme-figures: output of commands in README.md and docs/, with planted output."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 180
TABLE = " mechanism   64 B\n pipe   2.77 µs\n fifo   2.86 µs\n pipe again\n"
PAGE = """# Title

<!-- output of `ipcperf run`: first 2 lines matching `^ (mechanism|pipe) ` -->
```text
old
```

Text.
"""
NAME = Path("README.md")
PAGES = [NAME, Path("docs/survey.md"), Path("docs/usage.md"), Path("docs/reading-the-report.md")]
# Text of a block that was never filled. Measuring takes minutes, so a new block is committed with it.
PLACEHOLDER = "not measured yet"


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script as a module, whose commands run in a folder of the test."""
    loader = SourceFileLoader("readme_figures", str(ROOT / "scripts" / "readme-figures"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    return module


def rewritten(figures: ModuleType, page: str, output: str = TABLE, only: str = "") -> str:
    """Returns `page` with the planted `output` of its command."""
    commands = figures.Commands(Path("ipcperf"))
    commands.outputs["ipcperf run"] = output
    return str(figures.rewrite({NAME: page}, commands, only)[NAME])


def test_a_block_gets_the_first_lines_that_match(figures: ModuleType) -> None:
    page = rewritten(figures, PAGE)
    output = "```text\n$ ipcperf run\n mechanism   64 B\n pipe   2.77 µs\n```\n"
    assert page == PAGE.replace("```text\nold\n```\n", output)
    assert rewritten(figures, page) == page


def test_a_line_is_kept_with_its_continuation_lines(figures: ModuleType) -> None:
    sentences = (
        "Shortest: pipe,\n  8 times\n  as fast\nNo run\n  was disturbed\nHighest: tcp,\n  2 times\n\n  Note\n"
    )
    kept = figures.selected(sentences, "^(Shortest|Highest)", 2)
    assert kept == ["Shortest: pipe,", "  8 times", "  as fast", "Highest: tcp,", "  2 times"]
    assert figures.selected(sentences, "^Shortest", 2) == []
    table = " mechanism   64 B\n──────\n udp   1 µs\n       54 % lost\n pipe   2 µs\n"
    rows = [" mechanism   64 B", " udp   1 µs", "       54 % lost"]
    assert figures.selected(table, "^ (mechanism|udp) ", 2) == rows


def test_a_block_can_have_all_lines_or_those_from_a_heading(figures: ModuleType) -> None:
    whole = PAGE.replace("first 2 lines matching `^ (mechanism|pipe) `", "all lines")
    assert f"```text\n$ ipcperf run\n{TABLE}```\n" in rewritten(figures, whole, output=TABLE + "\n")
    page = whole.replace("all lines", "all lines from `^ fifo`")
    assert "```text\n$ ipcperf run\n fifo   2.86 µs\n pipe again\n```\n" in rewritten(figures, page)
    with pytest.raises(figures.PageError, match="fewer than one line that matches"):
        rewritten(figures, page, output=" pipe\n")


def test_pages_share_the_run_of_a_command(figures: ModuleType) -> None:
    page = PAGE.replace("ipcperf run", "echo ' pipe '; echo ' pipe '; echo 1 >>runs")
    files = figures.rewrite({NAME: page, Path("other.md"): page}, figures.Commands(Path("ipcperf")), "")
    assert files[NAME] == files[Path("other.md")] != page
    assert (figures.FOLDER / "runs").read_text() == "1\n"


def test_a_block_of_another_command_is_left_alone(figures: ModuleType) -> None:
    other = PAGE.replace("ipcperf run", "ipcperf list")
    page = rewritten(figures, PAGE + other, only="run")
    assert page.endswith(other)
    with pytest.raises(figures.PageError, match=r"no command of README\.md contains `trace`"):
        rewritten(figures, PAGE, only="trace")


def test_too_few_lines_are_an_error(figures: ModuleType) -> None:
    with pytest.raises(figures.PageError, match="fewer than 2 lines"):
        rewritten(figures, PAGE, output=" pipe   2.77 µs\n")


def test_an_incomplete_comment_is_an_error(figures: ModuleType) -> None:
    with pytest.raises(figures.PageError, match="is not complete"):
        rewritten(figures, PAGE.replace("```text\n", ""))


def test_a_command_runs_once_and_its_failure_is_an_error(figures: ModuleType, tmp_path: Path) -> None:
    commands = figures.Commands(Path("ipcperf"))
    for _ in range(2):
        assert commands.output("echo 1 >>runs; echo $COLUMNS") == "100\n"
    assert (tmp_path / "runs").read_text() == "1\n"
    with pytest.raises(figures.PageError, match="`exit 3` exited with 3"):
        commands.output("exit 3")


def test_a_picture_has_every_line_in_its_column(figures: ModuleType) -> None:
    drawing = ElementTree.fromstring(figures.picture("ipcperf", "a <b> & c\n\n  indented  \n"))
    texts = [one for one in drawing.iter() if one.tag.endswith("text")]
    assert [one.text for one in texts] == ["$ ipcperf", "a <b> & c", "indented"]
    places = [float(one.attrib["x"]) for one in texts]
    assert places[1] == places[0]
    assert places[2] == pytest.approx(places[0] + 2 * figures.GLYPHS.width, abs=0.1)
    heights = [float(one.attrib["y"]) for one in texts]
    assert heights[2] - heights[1] == 2 * (heights[1] - heights[0])


def test_a_figure_is_taken_from_the_report(figures: ModuleType, tmp_path: Path) -> None:
    mark = "<!-- figure bandwidth of `ipcperf run` in docs/figures/x.svg -->"
    commands = figures.Commands(Path("ipcperf"))
    commands.figures["ipcperf run"] = tmp_path
    with pytest.raises(figures.PageError, match="has no figure bandwidth"):
        figures.rewrite({NAME: mark}, commands, "")
    (tmp_path / "bandwidth.svg").write_text("<svg/>")
    files = figures.rewrite({NAME: mark}, commands, "")
    assert files[figures.ROOT / "docs" / "figures" / "x.svg"] == "<svg/>"


def test_the_readme_is_short_and_its_picture_exists(figures: ModuleType) -> None:
    page = (ROOT / "README.md").read_text()
    assert len(page.splitlines()) <= MOST_LINES
    drawn = [ROOT / picture["path"] for picture in figures.PICTURE.finditer(page)]
    assert drawn
    assert all(path.is_file() for path in drawn)


@pytest.mark.parametrize("page", PAGES)
def test_the_comments_of_a_page_are_complete(figures: ModuleType, page: Path) -> None:
    text = (ROOT / page).read_text()
    figures.check_marks(page.name, text)
    assert figures.marks(text)
    assert ROOT / page in figures.PAGES
    assert len(figures.PAGES) == len(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_is_measured(figures: ModuleType, page: Path) -> None:
    text = (ROOT / page).read_text()
    assert PLACEHOLDER not in text, f"{page} shows no figures: run scripts/readme-figures"
    for block in figures.BLOCK.finditer(text):
        lines = block[0].splitlines()[1:]
        assert lines[:2] == ["```text", f"$ {block['command']}"]
        assert lines[-1] == "```"
        assert len(lines) >= 3 + int(block["count"] or 1), f"`{block['command']}`: too few lines of output"
