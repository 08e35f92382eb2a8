"""A measured figure names the command that makes it; on the front pages it also stands on a page that records its output."""

import re
from pathlib import Path

import pytest

from steelyard.cli.main import _COMMANDS as COMMANDS

ROOT = Path(__file__).resolve().parents[2]
# Pages whose every figure is held to this; `docs/benchmarks.md` is made from the results altogether.
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md"]
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
_FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?%|(?<![\w.])\d[\d,]*\.\d+")
_MADE = "nobody edits it"
_COMMAND = re.compile(r"`python -m benchmarks[. ](\w+)")
# All other pages: a section with measured figures names what measured them. Levels that people choose are no figures.
SECTIONED = [
    page
    for folder in ("methods", "how-to", "decisions", "tutorial")
    for page in sorted((ROOT / "docs" / folder).glob("*.md"))
]
_LEVELS = {
    f"{level:g}" for level in (0, 1, 2, 2.5, 5, 10, 20, 25, 50, 75, 80, 90, 95, 97.5, 99, 99.9, 100)
}
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
_SHARE = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?%")
_RATIO = re.compile(r"(?<![\w.])\d+\.\d+ times")
_COST = re.compile(
    r"\b(?:took|takes?|costs?)\b[^.|]{0,60}?(?<![\w.])\d[\d,.]* ?(?:µs|ms|s|seconds?|minutes?|MB|GB|kB)\b"
)
_NUMBERS = re.compile(r"^[^a-z]*\d?\.\d+")
_SOURCE = re.compile(
    r"`[^`]*?python -m benchmarks[ .](?P<benchmark>\w+)"
    r"|`(?P<path>(?:tests|benchmarks|scripts)/[\w/]+(?:\.\w+)?)"
    rf"|steelyard (?P<command>{'|'.join(COMMANDS)})\b"
    r"|\]\((?:\.\./)?(?P<page>benchmarks\.md|decisions/[\w-]+\.md)"
)
# Sections whose numbers were set or worked out, not measured.
SET = {
    ("demo-campaign.md", "Systems"): "rates that were set",
    ("demo-campaign.md", "Human scores"): "weights that were set",
    ("demo-campaign.md", "Examples"): "texts of the campaign, with their scores",
}


def paragraphs(text):
    """Paragraphs and points of lists, without code."""
    return re.split(r"\n\s*\n|\n(?=- )", _FENCE.sub("\n\n", text))


def untraced(paragraph, pages):
    """Figures of a paragraph that are in no section which names a command of the paragraph.

    A page that a command makes altogether names it at its head, and counts as a whole.
    """
    names = _COMMAND.findall(paragraph)
    recorded = [
        text
        for page in pages
        for text in ([page] if _MADE in page else [section for _, section in sections(page)])
        if any(re.search(rf"benchmarks[. ]{name}\b", text) for name in names)
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


def test_a_figure_of_another_section_or_another_command_does_not_count():
    page = "# A\n`python -m benchmarks means`: 94.1.\n# B\n`python -m benchmarks races`: 93.2."
    said = "{}% (`python -m benchmarks {}`)"
    assert untraced(said.format("94.1", "means"), [page]) == []
    assert untraced(said.format("93.2", "means"), [page]) == ["93.2"]
    assert untraced(said.format("93.2", "means"), [page + "\nnobody edits it"]) == []


def sections(text):
    """Headings with what stands below each."""
    found, heading, lines, fenced = [], "", [], False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        if not fenced and re.match(r"#{1,6} ", line):
            found.append((heading, "\n".join(lines)))
            heading, lines = line.lstrip("# "), []
        else:
            lines.append(line)
    return [*found, (heading, "\n".join(lines))]


def measured(section):
    """Figures of a section that look measured, and rows of tables with two numbers or more."""
    prose = _FORMULA.sub("", _FENCE.sub("", section))
    figures = [one for one in _SHARE.findall(prose) if one not in _LEVELS]
    figures += _RATIO.findall(prose) + _COST.findall(prose)
    rows = [line for line in prose.splitlines() if line.startswith("|")]
    return figures + [
        row for row in rows if sum(bool(_NUMBERS.match(c.strip())) for c in row.split("|")) >= 2
    ]


def sources(section):
    """What a section names as its source, and whether it is there."""
    for found in _SOURCE.finditer(section):
        kind, name = found.lastgroup, found[found.lastgroup]
        if kind == "benchmark":
            folder = ROOT / "benchmarks"
            yield name, (folder / f"{name}.py").exists() or (folder / name).is_dir()
        elif kind == "path":
            yield name, (ROOT / name).exists()
        elif kind == "command":
            yield name, True
        else:
            yield name, (ROOT / "docs" / name).exists()


@pytest.mark.parametrize("page", SECTIONED, ids=lambda page: page.stem)
def test_every_section_with_measured_figures_names_what_measured_them(page):
    for heading, section in sections(page.read_text(encoding="utf-8")):
        named = list(sources(section))
        missing = [name for name, there in named if not there]
        assert missing == [], f"{page.name}, {heading}: named, but not there"
        if (page.name, heading) not in SET:
            assert named or not measured(section), f"{page.name}, {heading}: {measured(section)}"


def test_a_section_without_a_source_is_found():
    assert measured("It covers 94.7% of cases.") == ["94.7"]
    assert measured("A 95% interval, $x = 3.5\\%$.") == []
    assert measured("It took 3.2 s.") == ["took 3.2 s"]
    assert measured("| a | 0.91 | 0.93 |\n|---|---|---|") == ["| a | 0.91 | 0.93 |"]
    assert list(sources("`python -m benchmarks nothing`")) == [("nothing", False)]
    assert list(sources("`tests/docs/test_measured_figures.py`")) == [
        ("tests/docs/test_measured_figures.py", True)
    ]
    assert list(sources("`steelyard paper`")) == [("paper", True)]
