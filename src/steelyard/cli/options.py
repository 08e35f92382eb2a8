"""Arguments and options that commands share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click

from steelyard.cli.paths import InputPath, OutputFile
from steelyard.cli.printing import parse_bounds
from steelyard.cli.weights import Weights
from steelyard.errors import InvalidArgumentError
from steelyard.questions.about import Raters, Target
from steelyard.study import Study
from steelyard.tables import read_outputs
from steelyard.tables.duplicates import OnDuplicate

__all__ = [
    "FormOptions",
    "StudyChoice",
    "by_file",
    "chosen_metrics",
    "column_mapping",
    "file_options",
    "fill_mapping",
    "form_options",
    "level_option",
    "metric_options",
    "output_options",
    "parse_bands",
    "price_option",
    "seed_option",
    "study_arguments",
    "two_systems",
    "with_notes_told",
]

Command = Callable[..., Any]


@dataclass(frozen=True)
class StudyChoice:
    """The files that a command was given, and what of them it is to look at.

    Attributes
    ----------
    outputs, judgments : Path
        The files; one, where it holds outputs and human scores.
    prompts, systems : tuple of str or None
        Those that were named; None for all.
    exclude_systems : tuple of str or None
        Systems to leave out before anything is checked.
    columns, fill, separators, decimals, exclude_metrics, lower_is_better, human : tuple of str
        As the options were given.
    on_duplicate : {"error", "first", "last", "mean", "all"}
        What to do with two judgments of one output by one rater under one prompt.
    """

    outputs: Path
    judgments: Path | None
    prompts: tuple[str, ...] | None
    systems: tuple[str, ...] | None
    exclude_systems: tuple[str, ...] | None
    columns: tuple[str, ...]
    fill: tuple[str, ...]
    separators: tuple[str, ...]
    decimals: tuple[str, ...]
    on_duplicate: OnDuplicate
    exclude_metrics: tuple[str, ...] | None = None
    lower_is_better: tuple[str, ...] | None = None
    human: tuple[str, ...] | None = None

    def read(self, metrics: Sequence[str] = (), *, told: bool = True) -> Study:
        """Read the files with these metrics; with all numeric columns if none is named.

        What was taken for granted, filled or left out is said on standard error, unless the results
        say it (`told` is false).
        """
        study = Study.read(
            self.outputs,
            self.judgments,
            columns=column_mapping(self.columns),
            metrics=list(metrics) or None,
            on_duplicate=self.on_duplicate,
            prompts=self.prompts,
            systems=self.systems,
            exclude_systems=self.exclude_systems,
            fill=fill_mapping(self.fill),
            separator=by_file("--separator", self.separators),
            decimal=by_file("--decimal", self.decimals),
            exclude_metrics=self.exclude_metrics,
            lower_is_better=self.lower_is_better,
            human=self.human,
        )
        return with_notes_told(study) if told else study


def with_notes_told(study: Study) -> Study:
    """Say on standard error what was taken for granted, filled or left out in reading a study."""
    for note in study.notes:
        click.echo(f"note: {note}", err=True)
    return study


def study_arguments(command: Command) -> Command:
    """Add OUTPUTS, JUDGMENTS and what chooses and reads their rows and columns.

    The command takes them as one argument, a `StudyChoice`.
    """

    @wraps(command)
    def with_choice(
        outputs: Path,
        judgments: Path | None,
        *,
        prompts: tuple[str, ...],
        systems: tuple[str, ...],
        exclude_systems: tuple[str, ...],
        columns: tuple[str, ...],
        fill: tuple[str, ...],
        separators: tuple[str, ...],
        decimals: tuple[str, ...],
        on_duplicate: OnDuplicate,
        exclude_metrics: tuple[str, ...],
        lower_is_better: tuple[str, ...],
        human: tuple[str, ...],
        **others: Any,
    ) -> Any:
        if judgments is None and not human:
            raise InvalidArgumentError(
                "give JUDGMENTS too, or --human COLUMN where OUTPUTS holds the scores of people: "
                f"steelyard check {outputs} looks at it"
            )
        choice = StudyChoice(
            outputs,
            judgments,
            prompts or None,
            systems or None,
            exclude_systems or None,
            columns,
            fill,
            separators,
            decimals,
            on_duplicate,
            exclude_metrics or None,
            lower_is_better or None,
            human or None,
        )
        return command(choice, **others)

    found: Command = with_choice
    for decorate in reversed(
        (
            click.argument("outputs", type=InputPath()),
            click.argument("judgments", type=InputPath(), required=False),
            click.option(
                "--human",
                multiple=True,
                metavar="COLUMN",
                help="Where OUTPUTS is one table that holds the judgments too: its column of human scores, filled "
                "on some rows; several, or rater*, are of several raters.",
            ),
            click.option(
                "--prompt", "prompts", multiple=True, help="Prompt to look at; all by default."
            ),
            click.option(
                "--system", "systems", multiple=True, help="System to look at; all by default."
            ),
            click.option(
                "--exclude-system",
                "exclude_systems",
                multiple=True,
                help="System to leave out, before anything is checked.",
            ),
            click.option(
                "--exclude-metric",
                "exclude_metrics",
                multiple=True,
                help="Column of numbers in OUTPUTS that is no metric.",
            ),
            click.option(
                "--lower-is-better",
                multiple=True,
                metavar="PROMPT",
                help="Prompt whose lower scores are better, such as a rank or counted errors.",
            ),
            file_options,
            click.option(
                "--fill",
                multiple=True,
                metavar="METRIC=HOW",
                help="What to put where a metric is missing: mean or median of the system's other "
                "outputs, a number, or drop to leave out the metric. HOW alone is for all metrics.",
            ),
            click.option(
                "--on-duplicate",
                type=click.Choice(get_args(OnDuplicate)),
                default="error",
                show_default=True,
                help="What to do with two judgments of one output by one rater under one prompt: keep one, take "
                "their mean, or keep all as of unknown raters.",
            ),
        )
    ):
        found = decorate(found)
    return found


def file_options(command: Command) -> Command:
    """Add what says how files are written: ``--column``, ``--separator`` and ``--decimal``."""
    for decorate in (
        click.option(
            "--decimal",
            "decimals",
            multiple=True,
            metavar="MARK",
            help="What stands before decimals in text, . or ,; outputs:, or judgments:, for one file.",
        ),
        click.option(
            "--separator",
            "separators",
            multiple=True,
            metavar="CHARACTER",
            help="What stands between cells of CSV, such as ';' or tab; 'outputs:;' for one file.",
        ),
        click.option(
            "--column",
            "columns",
            multiple=True,
            metavar="OURS=YOURS",
            help="Your name of one of our columns, for example item=doc_id; "
            "outputs:item=doc_id or judgments:item=doc_id for one file.",
        ),
    ):
        command = decorate(command)
    return command


def metric_options(without: str) -> Callable[[Command], Command]:
    """Add ``--metric`` and ``--no-metric``; `without` says what is left without metrics."""

    def add(command: Command) -> Command:
        command = click.option("--no-metric", is_flag=True, help=without)(command)
        return click.option(
            "--metric",
            "metrics",
            multiple=True,
            help="Column of OUTPUTS to correct with; may be given several times. All by default.",
        )(command)

    return add


def chosen_metrics(metrics: Sequence[str], *, no_metric: bool) -> tuple[str, ...] | None:
    """Return the metrics that ``--metric`` and ``--no-metric`` ask for; None for all."""
    if no_metric and metrics:
        raise InvalidArgumentError("`--metric` and `--no-metric` exclude each other")
    return tuple(dict.fromkeys(metrics)) if metrics or no_metric else None


@dataclass(frozen=True)
class FormOptions:
    """What estimates and comparisons are made of and about.

    Attributes
    ----------
    metrics : tuple of str
        The metrics that were named.
    no_metric : bool
        Whether no metric is used.
    options : dict
        The other options, by the names of `Study.estimate`.
    """

    metrics: tuple[str, ...]
    no_metric: bool
    options: dict[str, Any]

    @property
    def chosen_metrics(self) -> tuple[str, ...] | None:
        """The metrics that were asked for; None for all."""
        return chosen_metrics(self.metrics, no_metric=self.no_metric)


def form_options(command: Command) -> Command:
    """Add what estimates and comparisons are made of and about; the command takes a `FormOptions`."""

    @wraps(command)
    def with_form(
        choice: StudyChoice,
        *,
        metrics: tuple[str, ...],
        no_metric: bool,
        bands: str | None,
        bounds: str | None,
        sample: Path | None,
        target: Target,
        raters: Raters | None,
        cluster_by: str | None,
        average: dict[str, float] | None,
        by: str | None,
        weights: dict[str, float] | None,
        **others: Any,
    ) -> Any:
        options = {
            "target": target,
            "raters": raters,
            "bounds": None if bounds is None else parse_bounds(bounds),
            "sample": None if sample is None else read_outputs(sample).rows(),
            "cluster_by": cluster_by,
            "average": average,
            "by": by,
            "bands": parse_bands(bands),
            "weights": weights,
        }
        return command(choice, FormOptions(metrics, no_metric, options), **others)

    found: Command = with_form
    for decorate in reversed(
        (
            metric_options("Judgments only."),
            click.option(
                "--target",
                type=click.Choice(get_args(Target)),
                default="pool",
                show_default=True,
                help="About these outputs (pool), or new outputs like these (superpopulation).",
            ),
            click.option(
                "--raters",
                type=click.Choice(get_args(Raters)),
                help="About raters like these (random, the default where two are known) or exactly these (fixed).",
            ),
            click.option("--bounds", metavar="LOW,HIGH", help="Least and greatest possible score."),
            click.option(
                "--sample",
                type=InputPath(),
                help="What `steelyard sample` wrote, when JUDGMENTS lack its columns.",
            ),
            click.option(
                "--cluster-by",
                metavar="COLUMN",
                help="Column that names the cluster of an output, whose outputs may be alike; "
                "`cluster` if there is one.",
            ),
            click.option(
                "--average",
                type=Weights(),
                metavar="PROMPT=X,…",
                help="Average over prompts with these weights, for example fluency=2,overall=1; or a "
                "JSON file of them.",
            ),
            click.option(
                "--by",
                metavar="COLUMN",
                help="Column of OUTPUTS that divides them into slices: topic, language, length.",
            ),
            click.option(
                "--bands",
                metavar="X,Y,…",
                help="Where numbers in --by are cut; by default into three bands of one size.",
            ),
            click.option(
                "--weights",
                type=Weights(),
                metavar="SLICE=X,…",
                help="The mean under this mix of slices, for example news=0.7,blogs=0.3; or a JSON "
                "file of them.",
            ),
        )
    ):
        found = decorate(found)
    return found


def parse_bands(text: str | None) -> list[float] | None:
    """Return the numbers of ``X,Y,…``."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidArgumentError(
            f"`--bands` must be numbers with commas, such as 10,20; got {text!r}"
        ) from error


def output_options(command: Command) -> Command:
    """Add ``--json`` and ``--output``."""
    command = click.option(
        "-o",
        "--output",
        type=OutputFile(),
        help="Write to this file instead of the terminal: .json, .csv, .md, .tex, .html, or text.",
    )(command)
    return click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys.")(
        command
    )


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


def price_option(command: Command) -> Command:
    """Add the price of a judgment, for the ledger."""
    return click.option(
        "--judgment-price",
        type=click.FloatRange(min=0, min_open=True),
        help="Of a judgment: the ledger is told in money too.",
    )(command)


def column_mapping(columns: Sequence[str]) -> dict[str, str]:
    """Return our names and theirs of ``OURS=YOURS`` pairs."""
    mapping = {}
    for pair in columns:
        ours, separator, yours = pair.partition("=")
        if not separator or not ours or not yours:
            raise InvalidArgumentError(
                f"`--column` must look like item=doc_id, our name first; got {pair!r}"
            )
        mapping[ours] = yours
    return mapping


def fill_mapping(fill: Sequence[str]) -> dict[str, str] | None:
    """Return what fills the gaps of each metric of ``METRIC=HOW``; ``*`` stands for all."""
    mapping = {}
    for pair in fill:
        metric, separator, how = pair.rpartition("=")
        mapping[metric if separator else "*"] = how
    return mapping or None


def by_file(option: str, values: Sequence[str]) -> dict[str, str]:
    """Return a value for outputs and one for judgments of ``VALUE`` and ``outputs:VALUE``."""
    found: dict[str, str] = {}
    for given in values:
        role, separator, value = given.partition(":")
        if separator and value and role in {"outputs", "judgments"}:
            found[role] = value
        elif not given:
            raise InvalidArgumentError(f"`{option}` must not be empty")
        else:
            found |= {"outputs": given, "judgments": given}
    return found


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
