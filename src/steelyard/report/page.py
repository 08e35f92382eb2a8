"""One self-contained HTML page about a study."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from steelyard import __version__
from steelyard.errors import InvalidArgumentError
from steelyard.numbers import count, level_name
from steelyard.questions.answer import agreed_sentence
from steelyard.records import names_of
from steelyard.report.findings import judged_outputs, prompt_findings, wanted_systems
from steelyard.report.glossary import GLOSSARY
from steelyard.report.section import section
from steelyard.study import Study
from steelyard.tables.replacing import replacing

__all__ = ["with_code", "write_report"]


def write_report(
    study: Study,
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str] | None = None,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    level: float = 0.95,
    command: str | None = None,
    title: str | None = None,
    judgment_price: float | None = None,
    notice: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a report on a study as one HTML file, with all figures inside.

    The page asks for nothing from elsewhere and has no script. The same study gives the same page,
    byte by byte. The file is written whole or not at all.

    Parameters
    ----------
    study : Study
        Outputs and judgments.
    path : path
        File to write; its folder must be there.
    metrics : str or sequence of str, optional
        Metrics to correct with: all by default, and plain means when there are none.
    prompts, systems : sequence of str, optional
        Which to report on; all that were judged by default.
    level : float
        Level of all intervals.
    command : str, optional
        The command that made the report, to be shown in it.
    title : str, optional
        Title of the page.
    judgment_price : float, optional
        Price of a judgment: what was saved is said in money too.
    notice : str, optional
        What a reader must know before all else, shown at the top and at the bottom.
    progress : callable, optional
        Called with the number of steps made and that of all: two for each prompt.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule, or the folder of `path` is not there.
    InvalidDataError
        If a judged output is not among the outputs, or the page cannot be written.

    Notes
    -----
    All systems are estimated together, as `Study.estimate` does by default. Which system is better
    is what `Study.compare` says of all pairs; intervals of single systems are not compared. What
    the data do not determine is left out, and the page says why: a prompt without repeated judgments
    has no variance components.

    Examples
    --------
    >>> import tempfile
    >>> outputs = pl.DataFrame({"item": range(8), "system": "s", "length": range(8)})
    >>> judgments = pl.DataFrame(
    ...     {"item": [0, 0, 2, 2, 4, 4, 5, 5, 7, 7], "system": "s", "rater": ["a", "b"] * 5,
    ...      "prompt": "p", "score": [0, 1, 1, 1, 1, 2, 2, 2, 3, 2]}
    ... )
    >>> study = Study.read(outputs, judgments)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(study, f"{folder}/report.html", metrics=["length"])
    ...     path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target = Path(path)
    _check_target(target)
    metrics = study.metrics if metrics is None else names_of(metrics)
    wanted = wanted_systems(study, names_of(prompts), names_of(systems))
    sections, found = [], []
    for place, (prompt, chosen) in enumerate(wanted.items()):
        found.append(prompt_findings(study, prompt, chosen, metrics=metrics, level=level))
        _tell(progress, 2 * place + 1, 2 * len(wanted))
        sections.append(section(study, found[-1], level=level, place=place + 1))
        _tell(progress, 2 * place + 2, 2 * len(wanted))
    names = list(dict.fromkeys(system for chosen in wanted.values() for system in chosen))
    environment = Environment(
        loader=PackageLoader("steelyard.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = with_code
    page = environment.get_template("report.html").render(
        title=title or f"Human evaluation of {_subject(names)}",
        facts=_facts(study, wanted),
        reading=study.notes,
        sections=sections,
        agreed=agreed_sentence(
            [None if one.answer is None else one.answer.comparison for one in found]
        ),
        price=judgment_price,
        glossary=GLOSSARY,
        metrics=list(metrics),
        level=level_name(level),
        command=command,
        notice=notice,
        version=__version__,
    )
    with replacing(target) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    return target


def _tell(progress: Callable[[int, int], None] | None, done: int, steps: int) -> None:
    if progress is not None:
        progress(done, steps)


def _check_target(path: Path) -> None:
    """Find out before the work, not after it, that the page cannot be written."""
    if path.is_dir():
        raise InvalidArgumentError(f"`path` must be a file; got the folder {path}: add a file name")
    if not path.parent.is_dir():
        raise InvalidArgumentError(
            f"`path` must lie in a folder that exists; got {path}: make {path.parent} first"
        )


def _subject(systems: Sequence[str]) -> str:
    return systems[0] if len(systems) == 1 else count(len(systems), "system")


def _facts(study: Study, wanted: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Return the size of the campaign, as far as it is reported on."""
    systems = {system for chosen in wanted.values() for system in chosen}
    rows = study.judgments.frame.filter(
        pl.col("prompt").is_in(list(wanted)) & pl.col("system").is_in(list(systems))
    )
    pool = sum(study.outputs.sizes[system] for system in systems)
    chosen = judged_outputs(study).filter(
        pl.col("prompt").is_in(list(wanted)) & pl.col("system").is_in(list(systems))
    )
    judged = chosen.select("item", "system").n_unique()
    return [
        ("judgments", f"{rows.height:,}"),
        ("raters", f"{rows['rater'].n_unique():,}"),
        ("outputs judged", f"{judged:,} of {pool:,}"),
        ("systems", f"{len(systems):,}"),
        ("prompts", f"{len(wanted):,}"),
    ]


def with_code(text: str) -> Markup:
    """Set what stands between backticks, such as a command, as code."""
    parts = re.split("`([^`]+)`", text)
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(one) if at % 2 else one for at, one in enumerate(parts))
