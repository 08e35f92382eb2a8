"""Gates in a pipeline: the answer as exit code, as a comment, and in the summary of a job."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import RenderableType

from steelyard.cli.printing import headed, print_result
from steelyard.cli.table_files import FORMATS
from steelyard.questions.pairs import Answer

__all__ = ["finish"]

_EXIT = {"holds": 0, "fails": 3, "undecided": 4}
# A file that the jobs of GitHub show beside their logs, in Markdown.
_SUMMARY = "GITHUB_STEP_SUMMARY"


def finish(
    gate: tuple[Answer, str],
    value: Any,
    parts: Sequence[RenderableType],
    *,
    as_json: bool,
    output: Path | None,
) -> NoReturn:
    """Print a result with the answer of a gate, and end with its exit code.

    A file, such as a comment in Markdown, begins with the answer. In a job of GitHub it is also added to
    the summary of the job.

    Parameters
    ----------
    gate : (str, str)
        The answer, and the same in one line.
    value, parts, as_json, output
        As for `print_result`.
    """
    answer, words = gate
    whole = [headed(f"Gate {answer}.", words), *parts]
    print_result(value, parts if output is None else whole, as_json=as_json, output=output)
    if summary := os.environ.get(_SUMMARY):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(FORMATS[".md"](whole) + "\n\n")
    click.echo(words, err=as_json)
    raise SystemExit(_EXIT[answer])
