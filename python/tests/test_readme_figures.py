"""scripts/readme-figures: output of commands in README.md, with planted output."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 180
TABLE = " mechanism   64 B\n pipe   2.77 us\n fifo   2.86 us\n pipe again\n"
PAGE = """# Title

<!-- output of `ipcperf run`: first 2 lines matching `^ (mechanism|pipe) ` -->
old
<!-- end of output -->

Text.
"""


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
    replaced, _ = figures.rewrite(page, commands, only)
    return str(replaced)


def test_a_block_gets_the_first_lines_that_match(figures: ModuleType) -> None:
    page = rewritten(figures, PAGE)
    output = "```text\n$ ipcperf run\n mechanism   64 B\n pipe   2.77 us\n```\n"
    assert page == PAGE.replace("old\n", output)
    assert rewritten(figures, page) == page


def test_a_block_of_another_command_is_left_alone(figures: ModuleType) -> None:
    other = PAGE.replace("ipcperf run", "ipcperf list")
    page = rewritten(figures, PAGE + other, only="run")
    assert page.endswith(other)
    with pytest.raises(figures.PageError, match=r"no command of README\.md contains `trace`"):
        rewritten(figures, PAGE, only="trace")


def test_too_few_lines_are_an_error(figures: ModuleType) -> None:
    with pytest.raises(figures.PageError, match="fewer than 2 lines"):
        rewritten(figures, PAGE, output=" pipe   2.77 us\n")


def test_an_incomplete_comment_is_an_error(figures: ModuleType) -> None:
    with pytest.raises(figures.PageError, match="is not complete"):
        rewritten(figures, PAGE.replace("<!-- end of output -->", ""))


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


def test_the_page_is_short_and_its_comments_are_complete(figures: ModuleType) -> None:
    page = figures.README.read_text()
    figures.check_marks(page)
    assert len(figures.BLOCK.findall(page)) >= 1
    assert len(page.splitlines()) <= MOST_LINES
    drawn = [ROOT / picture["path"] for picture in figures.PICTURE.finditer(page)]
    assert drawn
    assert all(path.is_file() for path in drawn)
