"""The paragraph of README about this benchmark, made from the results and nothing else."""

import re
import textwrap
from pathlib import Path

from benchmarks.honesty.kinds import KINDS
from benchmarks.honesty.peers import PEERS
from benchmarks.honesty.summary import DEFAULT, FROM, KNOWN_RATERS, alike, averages, common, rows
from benchmarks.honesty.table_text import percent

README = Path(__file__).resolve().parents[2] / "README.md"
_START = "- [Beside "
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")


def paragraph(results):
    """The paragraph, in lines of the README."""
    means = averages(common(alike(rows(results, "means"))))
    ours, plain, ppi = (means[way] for way in (DEFAULT, "plain t", "ppi-python ppi_mean_ci"))
    text = (
        f"{_START}{_NUMBERS[len(PEERS)]} peers](docs/benchmarks.md) from the package index (`python -m benchmarks honesty`), on {len(KINDS) - len(KNOWN_RATERS)} kinds of "
        f"generated campaigns with {FROM} to 200 judgments per system: {percent(ours.coverage)}% of the default's intervals hold the truth, at {ours.width:.3f} times "
        f"the width of plain t, which holds in {percent(plain.coverage)}%, and its squared error is {ours.cost:.3f} times the plain mean's; `ppi-python` holds in "
        f"{percent(ppi.coverage)}%. The page also says where we do not win."
    )
    return textwrap.fill(
        text, 160, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def written(text, results):
    """The text of README with this paragraph in the place of the one that it has."""
    found = re.compile(rf"^{re.escape(_START)}.*?(?=^- )", re.DOTALL | re.MULTILINE)
    return found.sub(lambda _: paragraph(results) + "\n", text, count=1)


def write(results):
    README.write_text(written(README.read_text(encoding="utf-8"), results), encoding="utf-8")
