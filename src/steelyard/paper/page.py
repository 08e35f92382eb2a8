"""One page that tells the paper's story again, number by number, with figures and tables as files."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from steelyard import __version__
from steelyard.numbers import count
from steelyard.paper.blocks import Block, Drawing, Folded, PaperClaim
from steelyard.paper.claims import claims
from steelyard.paper.frames import frames
from steelyard.paper.names import TASKS
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.story.bias import bias_section
from steelyard.paper.story.method import method_section
from steelyard.paper.story.results import results_section
from steelyard.paper.story.summary import summary
from steelyard.paper.story.tasks import tasks_section
from steelyard.paper.trajectories import Tracker, untracked
from steelyard.plots.style import styled
from steelyard.report.svg import inline_svg
from steelyard.tables import write_table

__all__ = ["KINDS", "VERDICTS", "write_page"]

VERDICTS = {
    "same": "comes out to the printed or released digits",
    "near": "comes out within Monte Carlo error or rounding",
    "differs": "does not come out",
    "biased": "comes out, but is a biased estimate of what it says",
}
KINDS = ("pdf", "png")


def write_page(
    found: Reproduction,
    output: Path,
    *,
    kinds: Sequence[str] = KINDS,
    command: str | None = None,
    tracked: Tracker = untracked,
) -> Path:
    """Write ``paper.html``, and the figures and tables it shows as files beside it.

    Parameters
    ----------
    found : Reproduction
        What came out.
    output : Path
        Folder to write to; made if it is not there. Figures go to ``figures``, tables to ``tables``
        as CSV.
    kinds : sequence of str
        Formats of figures as files, as matplotlib names them; the page has them inside anyway.
    command : str, optional
        The command that was run, to be shown.
    tracked : Tracker
        Shows progress.

    Returns
    -------
    Path
        The page.
    """
    verdicts = claims(found)
    sections = [
        make(found) for make in (bias_section, method_section, tasks_section, results_section)
    ]
    folder = output / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    drawings = [one for section in sections for one in _drawings(section.blocks)]
    svg = {
        one.name: _save(one, folder, kinds)
        for one in tracked(drawings, what="figures", total=len(drawings))
    }
    _write_tables(found, verdicts, output / "tables")
    page = output / "paper.html"
    page.write_text(
        _environment()
        .get_template("paper.html")
        .render(
            sections=sections,
            summary=summary(found),
            claims=verdicts,
            counts=_counts(verdicts),
            verdicts=VERDICTS,
            facts=_facts(found),
            missing=found.release.missing,
            svg=svg,
            kinds=kinds,
            draws=found.draws,
            seed=found.seed,
            command=command,
            version=__version__,
        ),
        encoding="utf-8",
        newline="\n",
    )
    return page


def _environment() -> Environment:
    return Environment(
        loader=ChoiceLoader([PackageLoader("steelyard.paper"), PackageLoader("steelyard.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _drawings(blocks: Iterable[Block]) -> Iterator[Drawing]:
    for block in blocks:
        if isinstance(block, Drawing):
            yield block
        elif isinstance(block, Folded):
            yield from _drawings(block.blocks)


def _save(drawing: Drawing, folder: Path, kinds: Sequence[str]) -> str:
    """Write a figure to files and return it as markup."""
    markup = inline_svg(drawing.figure, name=drawing.name, label=drawing.label)
    # The parts have found their places: no need to search for them again for each file.
    drawing.figure.set_layout_engine("none")
    for kind in kinds:
        _write_figure(drawing.figure, folder / f"{drawing.name}.{kind}", kind)
    return markup


def _write_figure(figure: Figure, path: Path, kind: str) -> None:
    # Without a date, so that the same data give the same file.
    metadata = {"CreationDate": None} if kind == "pdf" else None
    with styled():
        figure.savefig(path, format=kind, metadata=metadata)


def _write_tables(found: Reproduction, verdicts: list[PaperClaim], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames(found, verdicts).items():
        write_table(frame, folder / f"{name}.csv")


def _counts(verdicts: Sequence[PaperClaim]) -> list[tuple[str, int]]:
    return [(name, sum(claim.verdict == name for claim in verdicts)) for name in VERDICTS]


def _facts(found: Reproduction) -> list[tuple[str, str]]:
    lines = [line for task in found.release.tasks for line in task.lines]
    raters = {rater for line in lines for rater in line.raters}
    return [
        ("tasks", " and ".join(TASKS[task.name].title for task in found.release.tasks)),
        ("outputs", f"{len(lines):,}"),
        ("raters", f"{len(raters):,}"),
        ("settings followed", count(len(found.followed), "trajectory").replace("ys", "ies")),
    ]
