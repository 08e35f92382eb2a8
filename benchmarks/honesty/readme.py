"""The paragraph of README about this benchmark, made from the results and nothing else."""

import re
import textwrap
from pathlib import Path

import numpy as np

from benchmarks.honesty.kinds import KINDS
from benchmarks.honesty.peers import PEERS
from benchmarks.honesty.summary import DEFAULT, FROM, KNOWN_RATERS, alike, averages, common, rows
from benchmarks.honesty.table_text import percent

README = Path(__file__).resolve().parents[2] / "README.md"
_START = "- [Beside "
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")


def _share(results, part, way, name, cells=lambda _: True):
    """Mean share over the cells of a way, as the page's tables have it."""
    found = [
        record["ways"][way][name]
        for record in results.of(part)
        if way in record["ways"] and cells(record["cell"])
    ]
    return percent(np.mean([one for one in found if one is not None]))


def paragraph(results):
    """The paragraph, in lines of the README."""
    found = rows(results, "means")
    means = averages(common(alike(found)))
    ours, plain, ppi, true = (
        means[way]
        for way in (DEFAULT, "plain t", "ppi-python ppi_mean_ci", "truescore ppi_estimate")
    )
    few = averages(alike(found, 0), by=lambda row: (row["way"], row["n"]))
    ours_few, ppi_few = (few[way, 10] for way in (DEFAULT, "ppi-python ppi_mean_ci"))
    raters = averages(row for row in found if row["cell"] == "ten raters" and row["n"] >= FROM)

    def equal(cell):
        return cell.endswith("equal")

    def apart(cell):
        return not equal(cell)

    def decided(way):
        return _share(results, "decisions", way, "decided", apart)

    def false(way):
        return _share(results, "decisions", way, "wrong_claims", equal)

    def ever(way):
        return _share(results, "stopping", way, "ever_missed")

    peers, bootstrap, holm = _NUMBERS[len(PEERS)], "paired bootstrap (sacrebleu)", "paired t, Holm"
    judged = "truescore ppi_compare, Holm"
    text = (
        f"{_START}{peers} peers](docs/benchmarks.md) from the package index (`python -m benchmarks honesty`), on {len(KINDS) - len(KNOWN_RATERS)} kinds of "
        f"generated campaigns with {FROM} to 200 judgments per system: {percent(ours.coverage)}% of the default's intervals hold the truth, at {ours.width:.3f} times "
        f"the width of plain t, which holds in {percent(plain.coverage)}%, and its squared error is {ours.cost:.3f} times the plain mean's; `ppi-python` holds in "
        f"{percent(ppi.coverage)}%, `truescore` in {percent(true.coverage)}%. With ten known raters, whose leniency is in every judgment, the default holds in "
        f"{percent(raters[DEFAULT].coverage)}%, plain t in {percent(raters['plain t'].coverage)}%. Of equal systems, `compare` claims a difference in "
        f"{false('steelyard compare')}% of campaigns, a paired bootstrap without correction in {false(bootstrap)}%; of pairs that differ, it decides "
        f"{decided('steelyard compare')}%, paired t tests with Holm's correction {decided(holm)}%. Who stops when a plain interval is narrow misses the truth at some look in "
        f"{ever('naive: stop when plain t is narrow')}% of streams, our sequence in {ever('steelyard sequence (betting)')}%. The page also says where we do not win: with 10 judgments "
        f"the error of `ppi-python`'s estimate is smaller ({ppi_few.cost:.3f} against {ours_few.cost:.3f} of the plain mean's), though its intervals hold in "
        f"{percent(ppi_few.coverage)}%; `truescore`'s corrected differences decide {decided(judged)}% of pairs, with a false claim in {false(judged)}% of campaigns of equal systems."
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
