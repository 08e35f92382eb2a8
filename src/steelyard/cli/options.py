"""Arguments and options that commands share."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import click

from steelyard.errors import InvalidArgumentError
from steelyard.study import Study

__all__ = ["column_mapping", "level_option", "output_options", "read_study", "study_arguments"]

Command = Callable[..., Any]


def study_arguments(command: Command) -> Command:
    """Add OUTPUTS, JUDGMENTS and what chooses and reads their rows and columns."""
    for decorate in reversed(
        (
            click.argument("outputs", type=click.Path(path_type=Path)),
            click.argument("judgments", type=click.Path(path_type=Path)),
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
        command = decorate(command)
    return command


def output_options(command: Command) -> Command:
    """Add ``--json`` and ``--output``."""
    command = click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write to this file instead of the terminal.",
    )(command)
    return click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys.")(
        command
    )


def level_option(command: Command) -> Command:
    """Add ``--level``."""
    return click.option(
        "--level", type=float, default=0.95, show_default=True, help="Confidence level."
    )(command)


def read_study(
    outputs: Path,
    judgments: Path,
    *,
    columns: Sequence[str],
    metrics: Sequence[str] | None,
    on_duplicate: Literal["error", "first", "last"],
) -> Study:
    """Read the study that the arguments name."""
    return Study.read(
        outputs,
        judgments,
        columns=column_mapping(columns),
        metrics=metrics,
        on_duplicate=on_duplicate,
    )


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
