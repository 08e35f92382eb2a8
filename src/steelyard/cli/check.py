"""``steelyard check``."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from steelyard.cli.options import column_mapping, column_option, json_option
from steelyard.cli.paths import InputPath
from steelyard.cli.printing import parse_bounds, print_json
from steelyard.foreign import format_named
from steelyard.questions.check import FileCheck, check_files
from steelyard.tables.profile import FileProfile
from steelyard.tables.profile_counts import Counts

__all__ = ["check"]

_EXAMPLE = """\b
Examples:
  steelyard check outputs.csv judgments.xlsx
  steelyard check ratings.csv --bounds 1,5
"""
# Systems, prompts and metrics that are listed by name.
_NAMED = 8


@click.command(epilog=_EXAMPLE)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=InputPath())
@column_option
@click.option(
    "--bounds", metavar="LOW,HIGH", help="Least and greatest possible score, to find slips."
)
@json_option
def check(
    files: tuple[Path, ...],
    *,
    columns: tuple[str, ...],
    bounds: str | None,
    as_json: bool,
) -> None:
    """Say what is in files, what is wrong with them, and which command comes next.

    Give it the files you have: outputs, judgments, or whatever another tool wrote. All problems are
    counted and the first are named; nothing is changed.
    """
    found = check_files(
        files,
        columns=column_mapping(columns),
        bounds=None if bounds is None else parse_bounds(bounds),
        options=[part for one in columns for part in ("--column", one)],
    )
    if as_json:
        print_json(found.to_dict())
    else:
        # Lines are never broken: the command is there to be copied.
        click.echo("\n".join(_page(found)))


def _page(found: FileCheck) -> list[str]:
    lines = []
    for file in found.files:
        lines.append(f"{_bold(file.name)}: {_kind(file)}")
        lines += [f"  {line}" for line in _lines(file.counts)]
        if file.options:
            lines.append(f"  to be read with {shlex.join(file.options)}")
        lines += [f"  ! {problem}" for problem in file.problems]
    if found.problems:
        lines.append(_bold("To be decided" if _converts(found) else "Together"))
        lines += [f"  ! {problem}" for problem in found.problems]
    lines.append(_bold("What can be computed now"))
    lines += [f"  {line}" for line in found.possible]
    return [*lines, _bold(_next(found)), f"  {found.command}"]


def _converts(found: FileCheck) -> bool:
    return found.command.startswith("steelyard convert ")


def _next(found: FileCheck) -> str:
    if "=?" in found.command:
        return "Next, with a number for every question mark"
    if found.usable:
        return "Next"
    return f"Next, once that is {'decided' if _converts(found) else 'mended'}"


def _bold(words: str) -> str:
    return click.style(words, bold=True)


def _kind(file: FileProfile) -> str:
    if file.kind == "another form":
        if file.tool:
            return format_named(file.tool).title
        return (
            f"in no form that is known, {_number(file.rows, 'row')}"
            if file.rows
            else "in no form that is known"
        )
    if file.kind == "one table":
        return f"outputs and human scores in one table ({', '.join(file.human)}), {_number(file.rows, 'row')}"
    return f"{file.kind}, {_number(file.rows, 'row')}"


def _lines(counts: Counts) -> list[str]:
    """Return the counts of a file, in words."""
    lines = []
    if counts.systems is not None and counts.items is not None:
        lines.append(f"{_number(counts.items, 'item')}, {_sizes('system', counts.systems)}")
    if counts.metrics is not None:
        names = counts.metrics
        lines.append(f"{_number(len(names), 'metric')}{_listed(names)}" if names else "no metrics")
        if not counts.texts:
            lines.append(
                "no texts (no column `output`; name yours with --column output=YOUR_COLUMN)"
            )
    each, score = counts.judgments_per_output, counts.scores
    if each is not None and score is not None:
        asked = counts.prompts
        under = " and prompt" if len(asked or ()) > 1 else ""
        raters = "raters unknown" if counts.raters is None else _number(counts.raters, "rater")
        lines.append(
            f"{raters}, {'one prompt, unnamed' if asked is None else _sizes('prompt', asked)}"
        )
        lines.append(
            f"{counts.judged_outputs:,} judged outputs, {each.mean or 0:.2f} judgments per "
            f"output{under} (at most {each.most or 0}; {each.outputs_with_two:,} have two or more)"
        )
        if score.low is not None:
            lines.append(
                f"scores from {score.low:g} to {score.high:g}, {score.different:,} different"
            )
    if counts.preferences:
        named = ", ".join(
            f"{system} {wins:g} wins {ties:g} ties {losses:g} losses"
            for system, (wins, ties, losses) in list(counts.preferences.items())[:_NAMED]
        )
        lines.append(f"preferences: {named}")
    for number, row in enumerate(counts.first_rows, 1):
        lines.append(f"row {number}: {', '.join(f'{name}={cell!r}' for name, cell in row.items())}")
    return [*lines, *(f"column {name}: {what}" for name, what in counts.may_be.items())]


def _sizes(word: str, sizes: dict[str, int]) -> str:
    named = [f"{_name(name)} {size:,}" for name, size in sizes.items()]
    return f"{_number(len(sizes), word)}{_listed(named)}"


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _name(name: str) -> str:
    """Return a name as it is, and in quotation marks where it would not be seen as it is."""
    return name if name == " ".join(name.split()) and name.isprintable() else repr(name)


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f" ({', '.join(names[:_NAMED])}{more})" if names else ""
