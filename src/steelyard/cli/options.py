"""Arguments and options that commands share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, get_args

import click

from steelyard.cli.paths import InputPath, OutputFile
from steelyard.cli.weights import Weights
from steelyard.errors import InvalidArgumentError
from steelyard.estimate import Raters
from steelyard.study import Study

__all__ = [
    "StudyChoice",
    "chosen_metrics",
    "column_mapping",
    "interval_options",
    "level_option",
    "metric_options",
    "output_options",
    "parse_bands",
    "scope_options",
    "seed_option",
    "study_arguments",
]

Command = Callable[..., Any]


@dataclass(frozen=True)
class StudyChoice:
    """The files that a command was given, and what of them it is to look at.

    Attributes
    ----------
    outputs, judgments : Path
        The files.
    prompts, systems : tuple of str or None
        Those that were named; None for all.
    columns : tuple of str
        ``OURS=YOURS`` pairs.
    on_duplicate : {"error", "first", "last"}
        Which of two judgments of one output by one rater under one prompt to keep.
    """

    outputs: Path
    judgments: Path
    prompts: tuple[str, ...] | None
    systems: tuple[str, ...] | None
    columns: tuple[str, ...]
    on_duplicate: Literal["error", "first", "last"]

    def read(self, metrics: Sequence[str] = ()) -> Study:
        """Read the files with these metrics; with all numeric columns if none is named."""
        return Study.read(
            self.outputs,
            self.judgments,
            columns=column_mapping(self.columns),
            metrics=list(metrics) or None,
            on_duplicate=self.on_duplicate,
        )


def study_arguments(command: Command) -> Command:
    """Add OUTPUTS, JUDGMENTS and what chooses and reads their rows and columns.

    The command takes them as one argument, a `StudyChoice`.
    """

    @wraps(command)
    def with_choice(
        outputs: Path,
        judgments: Path,
        *,
        prompts: tuple[str, ...],
        systems: tuple[str, ...],
        columns: tuple[str, ...],
        on_duplicate: Literal["error", "first", "last"],
        **others: Any,
    ) -> Any:
        choice = StudyChoice(
            outputs, judgments, prompts or None, systems or None, columns, on_duplicate
        )
        return command(choice, **others)

    found: Command = with_choice
    for decorate in reversed(
        (
            click.argument("outputs", type=InputPath()),
            click.argument("judgments", type=InputPath()),
            click.option(
                "--prompt", "prompts", multiple=True, help="Prompt to look at; all by default."
            ),
            click.option(
                "--system", "systems", multiple=True, help="System to look at; all by default."
            ),
            click.option(
                "--column",
                "columns",
                multiple=True,
                metavar="OURS=YOURS",
                help="Your name of one of our columns, for example item=doc_id.",
            ),
            click.option(
                "--on-duplicate",
                type=click.Choice(["error", "first", "last"]),
                default="error",
                show_default=True,
                help="Which of two judgments of one output by one rater under one prompt to keep.",
            ),
        )
    ):
        found = decorate(found)
    return found


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


def interval_options(command: Command) -> Command:
    """Add what an interval counts: ``--raters``, ``--rater-variance`` and ``--cluster-by``."""
    for decorate in reversed(
        (
            click.option(
                "--raters",
                type=click.Choice(get_args(Raters)),
                help="Raters as fixed, as a sample of raters, or as a sample with their leniency "
                "taken out. By default a sample where at least five are known.",
            ),
            click.option(
                "--rater-variance", type=float, help="Variance of judgments of one output."
            ),
            click.option(
                "--cluster-by",
                metavar="COLUMN",
                help="Column that names the cluster of an output, whose outputs may be alike; "
                "`cluster` if there is one.",
            ),
        )
    ):
        command = decorate(command)
    return command


def scope_options(command: Command) -> Command:
    """Add what is looked at: ``--average``, ``--by``, ``--bands`` and ``--weights``."""
    for decorate in reversed(
        (
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
        command = decorate(command)
    return command


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
        help="Write to this file instead of the terminal.",
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
