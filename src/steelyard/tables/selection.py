"""Which rows are read: those of the prompts and systems that are asked about, before any check."""

from collections.abc import Sequence
from dataclasses import replace

from steelyard.errors import InvalidArgumentError
from steelyard.records import names_of
from steelyard.tables.rules import identifier
from steelyard.tables.tables import Table

__all__ = ["selected"]


def selected(
    table: Table,
    column: str,
    wanted: Sequence[str] | None = None,
    unwanted: Sequence[str] | None = None,
) -> Table:
    """Return the rows of those systems or prompts that are wanted; a row without one stays.

    Where one that is wanted is not there at all, nothing is filtered: the error that follows can
    then name those that are.

    Raises
    ------
    InvalidArgumentError
        If all are unwanted.
    """
    if wanted is None and not unwanted:
        return table
    value = identifier(table, column).value
    there = table.collect(table.rows.select(value).unique())[column].drop_nulls().to_list()
    left_out = set(there) & set(names_of(unwanted) or ())
    kept = set(there) - left_out
    if wanted is not None and set(names_of(wanted)) <= set(there):
        kept &= set(names_of(wanted))
    if not kept:
        raise InvalidArgumentError(
            f"`exclude_systems` (--exclude-system) leaves nothing of {table.name}"
        )
    rows = table.rows.filter(value.is_in(sorted(kept)) | value.is_null())
    return replace(table, rows=rows, left_out=(*table.left_out, *sorted(left_out)))
