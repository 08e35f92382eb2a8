"""A measured figure names the command that makes it, and stands on a page that records its output."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Pages whose every figure is held to this; `docs/benchmarks.md` is made from the results altogether.
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md"]
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
_FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?%|(?<![\w.])\d[\d,]*\.\d+")
_COMMAND = re.compile(r"`python -m benchmarks[. ](\w+)")


def paragraphs(text):
    """Paragraphs and points of lists, without code."""
    return re.split(r"\n\s*\n|\n(?=- )", _FENCE.sub("\n\n", text))


def untraced(paragraph, pages):
    """Figures of a paragraph that are on no page which names a command of the paragraph."""
    names = _COMMAND.findall(paragraph)
    recorded = [
        text for text in pages if any(re.search(rf"benchmarks[. ]{name}\b", text) for name in names)
    ]
    figures = [figure.rstrip("%") for figure in _FIGURE.findall(paragraph)]
    return [
        figure
        for figure in figures
        if not any(re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", text) for text in recorded)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_measured_figure_is_on_the_page_that_records_its_command(page):
    pages = [
        one.read_text(encoding="utf-8") for one in (ROOT / "docs").rglob("*.md") if one != page
    ]
    for paragraph in paragraphs(page.read_text(encoding="utf-8")):
        assert untraced(paragraph, pages) == [], paragraph


def test_a_figure_without_a_command_or_without_a_record_is_found():
    page = "From `python -m benchmarks.means`: coverage 94.1."
    assert untraced("Coverage is 94.1%.", [page]) == ["94.1"]
    assert untraced("Coverage is 94.2% (`python -m benchmarks means`).", [page]) == ["94.2"]
    assert untraced("Coverage is 94.1% (`python -m benchmarks means`).", [page]) == []
