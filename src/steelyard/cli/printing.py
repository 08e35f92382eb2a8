"""Text as commands read and write it: tables, JSON, files, bounds."""

import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
from rich.console import Console, RenderableType
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from steelyard.cli.table_files import FORMATS, as_csv
from steelyard.errors import InvalidArgumentError
from steelyard.tables.replacing import replacing

__all__ = [
    "headed",
    "note_lines",
    "parse_bounds",
    "plain_console",
    "print_json",
    "print_result",
    "print_tables",
    "progress_bar",
    "progress_console",
    "write_text",
]

# Wide enough for any table when nobody looks at a screen.
_PIPE_WIDTH = 200
_UNLIMITED = 10_000
# More systems than this are counted in a note.
_NAMED = 4


def plain_console(
    *,
    width: int | None = None,
    file: IO[str] | None = None,
    stderr: bool = False,
    quiet: bool = False,
) -> Console:
    """Return a console that shows all text as it is.

    The names of systems, prompts, metrics and files are not markup: ``[base]`` and ``:rocket:`` are
    printed so. What is to look otherwise is a `Text` with a style.
    """
    return Console(
        width=width,
        file=file,
        stderr=stderr,
        quiet=quiet,
        markup=False,
        emoji=False,
        highlight=False,
    )


def note_lines(said: Iterable[tuple[str | None, str, str]]) -> list[str]:
    """Return each note once, with the systems that it is about.

    Parameters
    ----------
    said : iterable of (str or None, str, str)
        A system, what else the note belongs to, and the note.

    Examples
    --------
    >>> note_lines([("a", "q", "no metric"), ("b", "q", "no metric")])
    ['note: a, b, q: no metric']
    """
    about: dict[tuple[str, str], dict[str, None]] = {}
    for system, place, note in said:
        about.setdefault((place, note), {}).update({} if system is None else {system: None})
    lines = []
    for (place, note), systems in about.items():
        names = list(systems)
        if len(names) > _NAMED:
            names[_NAMED - 1 :] = [f"{len(names) - _NAMED + 1} more systems"]
        lines.append(f"note: {', '.join([*names, *([place] if place else [])])}: {note}")
    return lines


def headed(heading: str, words: str) -> Text:
    """Return words after a heading in bold type."""
    return Text.assemble((heading, "bold"), f" {words}")


def print_json(value: Any, output: Path | None = None) -> None:
    """Print `value` as JSON; a number that is not finite becomes null."""
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
    if output is None:
        click.echo(text)
    else:
        write_text(output, text + "\n")


# Endings that promise a form in which results are not written.
_NOT_WRITTEN = frozenset(
    {".xlsx", ".xls", ".ods", ".parquet", ".tsv", ".jsonl", ".pdf", ".docx", ".png", ".svg"}
)


def print_result(
    value: Any, parts: Iterable[RenderableType], *, as_json: bool, output: Path | None
) -> None:
    """Print a result as tables or JSON, or write it to a file in the form that its name asks for."""
    kind = "" if output is None else output.suffix.lower()
    if kind in _NOT_WRITTEN and not as_json:
        raise InvalidArgumentError(
            f"`--output` {output}: results are written as .csv, .json, .md, .tex, .html or plain .txt; "
            f"got {kind!r}: spreadsheets open .csv"
        )
    if as_json or kind == ".json":
        print_json(value, output)
    elif output is not None and kind == ".csv":
        write_text(output, as_csv(_finite(value)) + "\n")
    elif output is not None and kind in FORMATS:
        write_text(output, FORMATS[kind](parts) + "\n")
    else:
        print_tables(parts, output)


def print_tables(parts: Iterable[RenderableType], output: Path | None) -> None:
    """Print tables and lines to the terminal, or plain to a file."""
    if output is None:
        width = None if sys.stdout.isatty() else _PIPE_WIDTH
        console = plain_console(width=width)
        for part in parts:
            if isinstance(part, Table):
                _fit(part, console)
            console.print(part)
        return
    page = io.StringIO()
    console = plain_console(width=_PIPE_WIDTH, file=page)
    for part in parts:
        console.print(part)
    write_text(output, page.getvalue())


def _fit(table: Table, console: Console) -> None:
    """Let a table that is too wide go without lines, and break its cells rather than cut them."""
    unlimited = console.options.update(width=_UNLIMITED)
    if console.measure(table, options=unlimited).maximum <= console.width:
        return
    table.box = None
    table.padding = (0, 1, 0, 0)
    for column in table.columns:
        column.overflow = "fold"


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def progress_console() -> Console:
    """Return where progress is shown: standard error, and only when somebody looks."""
    return plain_console(stderr=True, quiet=not sys.stderr.isatty())


@contextmanager
def progress_bar(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Show how much of all is done on a terminal, and nothing elsewhere."""
    console = progress_console()
    with Progress(console=console, transient=True, disable=console.quiet) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def parse_bounds(text: str) -> tuple[float, float]:
    """Return the two numbers of ``LOW,HIGH``."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidArgumentError(
            f"`--bounds` must be two numbers with a comma, such as 0,1; got {text!r}"
        ) from error
    return low, high


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
