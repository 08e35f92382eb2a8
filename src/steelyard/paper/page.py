"""One page that goes through the paper again, number by number, with figures and tables as files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from steelyard import __version__
from steelyard.numbers import GAMMA, RHO, count, number, percent
from steelyard.paper import tables
from steelyard.paper.claims import VERDICTS, claims
from steelyard.paper.differences import curve_error
from steelyard.paper.drawings import FAR, Drawing, distances, drawings, file_name
from steelyard.paper.frames import frames
from steelyard.paper.names import TASKS, prompt_name
from steelyard.paper.released_tables import converted
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.trajectories import Tracker, untracked
from steelyard.plots.style import styled
from steelyard.report.page import with_code
from steelyard.report.svg import inline_svg
from steelyard.tables import write_table

__all__ = ["KINDS", "write_page"]

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
    for folder in ("figures", "tables"):
        (output / folder).mkdir(parents=True, exist_ok=True)
    verdicts = claims(found)
    drawn = {one.name: one for one in drawings(found)}
    svg = {
        one.name: _save(one, output / "figures", kinds)
        for one in tracked(drawn.values(), what="figures", total=len(drawn))
    }
    for name, frame in frames(found, verdicts).items():
        write_table(frame, output / "tables" / f"{name}.csv")
    tasks = found.release.tasks
    page = output / "paper.html"
    text = (
        _environment()
        .get_template("paper.html")
        .render(
            found=found,
            claims=verdicts,
            verdicts=VERDICTS,
            drawn=drawn,
            svg=svg,
            kinds=kinds,
            command=command,
            version=__version__,
            facts={
                "tasks": " and ".join(task.names.title for task in tasks),
                "outputs": f"{sum(len(task.lines) for task in tasks):,}",
                "raters": f"{len(set().union(*(task.raters for task in tasks))):,}",
                "settings followed": count(len(found.followed), "trajectory").replace("ys", "ies"),
            },
            remarks={
                task.name: converted(task.name, task.lines, task.texts).remarks for task in tasks
            },
            distances={task.name: distances(found, task) for task in tasks},
            # Two curves drawn apart on the authors' side, 1,000 draws each.
            scatter=float(np.sqrt(2 * found.draws / 1000)) * curve_error(found.followed),
        )
    )
    page.write_text(text, encoding="utf-8", newline="\n")
    return page


def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("steelyard.paper"), PackageLoader("steelyard.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "code": with_code,
        "number": number,
        "percent": percent,
        "counted": count,
        "prompt_name": prompt_name,
        "mean": lambda values: float(np.mean(list(values))),
        "median": lambda values: float(np.median(list(values))),
    }
    environment.globals |= {
        "tables": tables,
        "TASKS": TASKS,
        "gamma": GAMMA,
        "rho": RHO,
        "far": FAR,
        "file_name": file_name,
    }
    return environment


def _save(drawing: Drawing, folder: Path, kinds: Sequence[str]) -> str:
    """Write a figure to files and return it as markup."""
    markup = inline_svg(drawing.figure, name=drawing.name, label=drawing.label)
    # The parts have found their places: no need to search for them again for each file.
    drawing.figure.set_layout_engine("none")
    for kind in kinds:
        # Without a date, so that the same data give the same file.
        metadata = {"CreationDate": None} if kind == "pdf" else None
        with styled():
            path = folder / f"{drawing.name}.{kind}"
            drawing.figure.savefig(path, format=kind, metadata=metadata)
    return markup
