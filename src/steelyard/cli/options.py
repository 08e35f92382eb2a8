"""Arguments and options that commands share."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from steelyard.campaign.versions import campaign_files
from steelyard.cli.paths import InputPath, OutputFile
from steelyard.cli.printing import parse_bounds
from steelyard.cli.weights import Weights
from steelyard.errors import InvalidArgumentError
from steelyard.questions.about import Raters, Target
from steelyard.records import names_of
from steelyard.study import Study
from steelyard.tables import read_outputs
from steelyard.tables.locations import located

__all__ = [
    "StudyChoice",
    "about_option",
    "bounds_option",
    "column_mapping",
    "column_option",
    "earlier_option",
    "form_options",
    "gate_option",
    "json_option",
    "level_option",
    "more_option",
    "named_metrics_of",
    "output_options",
    "pair_options",
    "price_option",
    "seed_option",
    "study_arguments",
    "two_systems",
    "with_notes_told",
]

Command = Callable[..., Any]
# Stands for no metric at all.
_NO_METRIC = "none"


@dataclass(frozen=True)
class StudyChoice:
    """The files that a command was given, and what of them it is to look at.

    Attributes
    ----------
    outputs, judgments : Path
        The files; one, where it holds outputs and human scores.
    prompts, systems : tuple of str or None
        Those that were named; None for all.
    metrics : tuple of str or None
        The metrics that were named; none of them if it is empty, all if it is None.
    columns : mapping
        Our names of columns, and theirs.
    others : mapping
        Other options of `Study.read`.
    weeks : tuple of (str, Path, Path)
        Where OUTPUTS is a folder of dated files: the name, outputs and judgments of each.
    """

    outputs: Path
    judgments: Path | None
    prompts: tuple[str, ...] | None
    systems: tuple[str, ...] | None
    metrics: tuple[str, ...] | None
    columns: dict[str, Any]
    others: dict[str, Any]
    weeks: tuple[tuple[str, Path, Path], ...] = ()

    def read(self, *, told: bool = True, all_metrics: bool = False) -> Study:
        """Read the files, with the metrics that were named, or all.

        What was taken for granted, filled or left out is said on standard error, unless the results
        say it (`told` is false).
        """
        study = Study.read(
            self.outputs,
            self.judgments,
            columns=self.columns,
            metrics=None if all_metrics else self.metrics or None,
            prompts=self.prompts,
            systems=self.systems,
            **self.others,
        )
        return with_notes_told(study) if told else study

    def beside(self, **others: Any) -> "StudyChoice":
        """Return the same with further options of `Study.read`."""
        return replace(self, others=self.others | others)


def with_notes_told(study: Study) -> Study:
    """Say on standard error what was taken for granted, filled or left out in reading a study."""
    for note in study.notes:
        click.echo(f"note: {note}", err=True)
    return study


def study_arguments(command: Command) -> Command:
    """Add OUTPUTS, JUDGMENTS and what chooses their rows and columns.

    The command takes them as one argument, a `StudyChoice`.
    """

    @wraps(command)
    def with_choice(
        outputs: Path,
        judgments: Path | None,
        *,
        prompts: tuple[str, ...],
        systems: tuple[str, ...],
        metrics: tuple[str, ...],
        columns: tuple[str, ...],
        lower_is_better: tuple[str, ...],
        **others: Any,
    ) -> Any:
        weeks: tuple[tuple[str, Path, Path], ...] = ()
        mapping = column_mapping(columns)
        if judgments is None and outputs.is_dir() and "score" not in mapping:
            # the last one is today's, those before it are earlier versions
            weeks = tuple(campaign_files(outputs))
            outputs, judgments = weeks[-1][1:]
        if judgments is None and "score" not in mapping:
            located(outputs)
            raise InvalidArgumentError(
                "give JUDGMENTS too, or --column score=YOURS where OUTPUTS holds the scores of people: "
                f"steelyard check {shlex.quote(str(outputs))} looks at it"
            )
        named_systems, left_systems = _named("--system", systems)
        named_metrics, left_metrics = named_metrics_of(metrics)
        choice = StudyChoice(
            outputs,
            judgments,
            prompts or None,
            named_systems,
            named_metrics,
            mapping,
            {
                "exclude_systems": left_systems,
                "exclude_metrics": left_metrics,
                "lower_is_better": lower_is_better or None,
                "earlier": weeks[:-1] or None,
            },
            weeks,
        )
        return command(choice, **others)

    return _with(
        with_choice,
        click.argument("outputs", type=InputPath()),
        click.argument("judgments", type=InputPath(), required=False),
        click.option(
            "--prompt",
            "prompts",
            multiple=True,
            metavar="NAME",
            help="Prompt to look at; all by default.",
        ),
        click.option(
            "--system",
            "systems",
            multiple=True,
            metavar="NAME",
            help="System to look at; -NAME leaves one out; all by default.",
        ),
        click.option(
            "--metric",
            "metrics",
            multiple=True,
            metavar="NAME",
            help="Column of OUTPUTS to use as metric; -NAME leaves one out, none all; all by default.",
        ),
        click.option(
            "--lower-is-better",
            multiple=True,
            metavar="PROMPT",
            help="Prompt whose lower scores are better, such as a rank.",
        ),
        column_option,
    )


def earlier_option(command: Command) -> Command:
    """Add ``--earlier``, with which the study is read."""

    @wraps(command)
    def with_earlier(choice: StudyChoice, *, earlier: tuple[Path, ...], **others: Any) -> Any:
        known = (*(choice.others["earlier"] or ()), *earlier)
        return command(choice.beside(earlier=known or None), **others)

    return click.option(
        "--earlier",
        multiple=True,
        type=InputPath(),
        metavar="FOLDER",
        help="Outputs and judgments of earlier versions, which lend what they know.",
    )(with_earlier)


def _with(command: Command, *options: Callable[[Command], Command]) -> Command:
    """Return a command with options, the first on top of its help."""
    for add in reversed(options):
        command = add(command)
    return command


def _named(
    option: str, given: Sequence[str]
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the names that were given, and those that were given with a minus."""
    wanted = tuple(dict.fromkeys(one for one in given if not one.startswith("-")))
    left = tuple(dict.fromkeys(one[1:] for one in given if one.startswith("-")))
    wrong = next((one for one in given if one.startswith("--") or one == "-"), None)
    if wrong is not None:
        raise InvalidArgumentError(f"`{option}` must be followed by a name; got {wrong!r}")
    both = [one for one in wanted if one in left]
    if both:
        raise InvalidArgumentError(f"`{option}` takes {both[0]!r} and leaves it out: give one")
    return wanted or None, left or None


def named_metrics_of(
    given: Sequence[str],
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the metrics to use, none of them if that was asked for, and those to leave out."""
    wanted, left = _named("--metric", given)
    if wanted is not None and _NO_METRIC in wanted:
        if len(wanted) > 1:
            raise InvalidArgumentError("`--metric none` excludes other metrics")
        wanted = ()
    return wanted, left


def column_option(command: Command) -> Command:
    """Add ``--column``."""
    return click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="OURS=YOURS",
        help="Your name of our column: item=doc_id, cluster=page; score=gold where OUTPUTS has scores.",
    )(command)


def about_option(command: Command) -> Command:
    """Add ``--about``; the command takes it as `target` and `raters`, as `Study.estimate` does."""

    @wraps(command)
    def with_about(*given: Any, about: tuple[str, ...], **others: Any) -> Any:
        target = "superpopulation" if "new-outputs" in about else "pool"
        raters = "fixed" if "these-raters" in about else None
        return command(*given, target=target, raters=raters, **others)

    return click.option(
        "--about",
        multiple=True,
        type=click.Choice(["new-outputs", "these-raters"]),
        help="Intervals for new outputs instead of these, or for exactly these raters instead of such.",
    )(with_about)


def form_options(command: Command) -> Command:
    """Add what answers are about; the command takes them as the mapping `form`, for `Study.estimate`."""

    @wraps(command)
    def with_form(
        choice: StudyChoice,
        *,
        sample: Path | None,
        target: Target,
        raters: Raters | None,
        by: str | None,
        weights: dict[str, float] | None,
        **others: Any,
    ) -> Any:
        column, bands = _parts(by)
        form = {
            "target": target,
            "raters": raters,
            "average": weights if column is None else None,
            "by": column,
            "bands": bands,
            "weights": weights if column is not None else None,
        }
        drawn = None if sample is None else read_outputs(sample).rows()
        return command(choice.beside(sample=drawn), form=form, **others)

    return _with(
        with_form,
        about_option,
        click.option(
            "--by",
            metavar="COLUMN[=X,Y]",
            help="A part of the answer for each topic, language, … ; numbers are cut at X, Y.",
        ),
        click.option(
            "--weights",
            type=Weights(),
            metavar="NAME=X,…",
            help="One answer for this mix of slices (news=2,blogs=1), or of prompts without --by; or a JSON file.",
        ),
        click.option(
            "--sample",
            type=InputPath(),
            help="What `steelyard sample` wrote, if JUDGMENTS lack its columns.",
        ),
        bounds_option,
    )


def _parts(by: str | None) -> tuple[str | None, list[float] | None]:
    """Return the column of ``COLUMN[=X,Y]``, and where its numbers are cut."""
    column, equals, bands = (by or "").rpartition("=")
    if not equals:
        return by, None
    try:
        return column, [float(part) for part in bands.split(",")]
    except ValueError as error:
        raise InvalidArgumentError(
            f"`--by` cuts numbers at numbers with commas, such as length=10,20; got {by!r}"
        ) from error


def bounds_option(command: Command) -> Command:
    """Add ``--bounds``, with which the study is read."""

    @wraps(command)
    def with_bounds(choice: StudyChoice, *, bounds: str | None, **others: Any) -> Any:
        ends = None if bounds is None else parse_bounds(bounds)
        return command(choice.beside(bounds=ends), **others)

    return click.option("--bounds", metavar="LOW,HIGH", help="Least and greatest possible score.")(
        with_bounds
    )


def pair_options(command: Command) -> Command:
    """Add ``--pair``, ``--baseline`` and ``--margin``."""
    return _with(
        command,
        click.option(
            "--pair", nargs=2, callback=two_systems, metavar="A B", help="These two systems only."
        ),
        click.option("--baseline", metavar="A", help="Every other system with this one only."),
        click.option("--margin", type=float, help="Differences that do not matter."),
    )


def gate_option(*choices: str) -> Callable[[Command], Command]:
    """Add ``--gate``, which makes the exit code the answer."""
    return click.option(
        "--gate",
        type=click.Choice(choices),
        help="For pipelines: exit 0 if it holds, 3 if it fails, 4 if that is undecided.",
    )


def more_option(command: Command) -> Command:
    """Add ``--more``."""
    return click.option(
        "--more", is_flag=True, help="All columns, pairs and notes; a file has them anyway."
    )(command)


def json_option(command: Command) -> Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys.")(
        command
    )


def output_options(command: Command) -> Command:
    """Add ``--json`` and ``--output``."""
    return _with(
        command,
        json_option,
        click.option(
            "-o",
            "--output",
            type=OutputFile(),
            help="Write to this file: .json, .csv, .md, .tex, .html, or text.",
        ),
    )


def price_option(command: Command) -> Command:
    """Add ``--judgment-price``."""
    return click.option(
        "--judgment-price",
        type=click.FloatRange(min=0, min_open=True),
        help="Price of one judgment: numbers of judgments are given in money too.",
    )(command)


def seed_option(purpose: str) -> Callable[[Command], Command]:
    """Add ``--seed``; `purpose` says of what."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help=purpose
    )


def level_option(command: Command) -> Command:
    """Add ``--level``."""
    return click.option(
        "--level", type=float, default=0.95, show_default=True, help="Confidence level."
    )(command)


def column_mapping(columns: Sequence[str]) -> dict[str, Any]:
    """Return our names and theirs of ``OURS=YOURS`` pairs; `score` may have several."""
    mapping: dict[str, Any] = {}
    for pair in columns:
        ours, _, yours = pair.partition("=")
        if not ours or not yours:
            raise InvalidArgumentError(
                f"`--column` must look like item=doc_id, our name first; got {pair!r}"
            )
        if ours in mapping and ours != "score":
            raise InvalidArgumentError(f"`--column` names {ours!r} twice")
        mapping[ours] = [*names_of(mapping[ours]), yours] if ours in mapping else yours
    return mapping


def two_systems(
    _: click.Context, option: click.Parameter, given: tuple[str, str] | None
) -> tuple[str, str] | None:
    """Refuse an option in the place of a system's name, which click would take for the name."""
    taken = next((name for name in given or () if name.startswith("--")), None)
    if taken is not None:
        raise InvalidArgumentError(
            f"`{option.opts[0]}` must be followed by the names of two systems; got {taken!r}"
        )
    return given
