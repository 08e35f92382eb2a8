"""Answers as the terminal shows them: a sentence, one table, and a few notes."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from steelyard.names import shown_names

__all__ = ["NAMES", "below", "metrics_used", "named", "table_of", "titled"]

# Characters of a system's name in a table of one system a row.
NAMES = 30
# Notes that are shown without --more.
_NOTES = 3
# Metrics that are listed by name.
_METRICS = 6


def titled(place: str, sentence: str) -> Text:
    """Return the answer in one sentence, after what it is about."""
    return Text.assemble((f"{place}: ", "bold"), sentence)


def named(systems: Sequence[str], *, more: bool, width: int = NAMES) -> dict[str, str]:
    """Return the names of systems, short enough for a table and all different; whole with `more`."""
    names = list(dict.fromkeys(systems))
    return dict(zip(names, names if more else shown_names(names, width), strict=True))


def table_of(columns: Sequence[tuple[str, bool]], title: str | None = None) -> Table:
    """Return an empty table with these columns, of which those marked hold numbers."""
    table = Table(title=title, title_justify="left")
    for name, is_number in columns:
        table.add_column(name, justify="right" if is_number else "left")
    return table


def metrics_used(metrics: Sequence[str]) -> str:
    """Return which metrics were used, for the end of a line."""
    if not metrics:
        return ""
    named = ", ".join(metrics) if len(metrics) <= _METRICS else f"{len(metrics)}"
    return f"; metrics used: {named}"


def below(notes: Sequence[str], *, more: bool) -> list[RenderableType]:
    """Return the notes under a table; of many the first, and how to see the others."""
    lines = list(dict.fromkeys(notes))
    if not more and len(lines) > _NOTES:
        left = len(lines) - _NOTES + 1
        lines = [*lines[: _NOTES - 1], f"{left} more notes: add --more"]
    return [f"note: {line}" for line in lines]
