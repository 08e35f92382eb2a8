"""The keys of a pool: whole, unique, and counted by system, in bounded memory."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidDataError
from steelyard.tables.refusals import check
from steelyard.tables.rules import ColumnRule
from steelyard.tables.tables import ROW, Table

__all__ = ["system_sizes"]

_HASH = "__hash__"
_BROKEN = "__broken__"
# Repeated hashes looked at to find a repeated key. Fifty million different keys share a 64-bit
# hash once in 15,000 pools, so that a thousand repeated hashes hold a repeated key.
_SUSPECTS = 1000


def system_sizes(table: Table, keys: Sequence[ColumnRule]) -> dict[str, int]:
    """Return the number of outputs of each system, after checking every key of the pool.

    Keys are compared by their 64-bit hashes, 8 bytes an output, and by themselves only where
    hashes are equal.

    Parameters
    ----------
    table : Table
        The pool.
    keys : sequence of ColumnRule
        The rules of its columns item and system.

    Returns
    -------
    dict
        Sizes by system, systems in order of first appearance.

    Raises
    ------
    InvalidDataError
        If a key is missing or there twice.
    """
    hashes = np.empty(table.collect(table.rows.select(pl.len())).item(), dtype=np.uint64)
    sizes: dict[str, int] = {}
    start = 0
    is_broken = pl.any_horizontal(rule.broken for rule in keys).alias(_BROKEN)
    query = table.rows.select(*(rule.value for rule in keys), is_broken)
    for batch in table.batches(query.select("system", _BROKEN, _hash(keys))):
        if batch[_BROKEN].any():
            first = table.rows.filter(is_broken).select(ROW, *_columns(keys)).head(1)
            check(table, table.collect(first), keys)
        hashes[start : start + batch.height] = batch[_HASH].to_numpy()
        start += batch.height
        for system, size in batch.group_by("system", maintain_order=True).len().iter_rows():
            sizes[system] = sizes.get(system, 0) + size
    hashes.sort()
    repeated = hashes[1:][hashes[1:] == hashes[:-1]]
    if len(repeated):
        _check_suspects(table, keys, np.unique(repeated)[:_SUSPECTS])
    return sizes


def _columns(keys: Sequence[ColumnRule]) -> list[str]:
    return [rule.column for rule in keys]


def _hash(keys: Sequence[ColumnRule]) -> pl.Expr:
    return pl.struct(_columns(keys)).hash().alias(_HASH)


def _check_suspects(table: Table, keys: Sequence[ColumnRule], suspects: NDArray[np.uint64]) -> None:
    """Raise for the first key that is there twice; different keys may share a hash."""
    found = table.collect(
        table.rows.select(ROW, *(rule.value for rule in keys))
        .with_columns(_hash(keys))
        .filter(pl.col(_HASH).is_in(pl.Series(suspects).implode()))
    )
    twice = (
        found.sort(ROW)
        .group_by(_columns(keys), maintain_order=True)
        .agg(pl.col(ROW))
        .filter(pl.col(ROW).list.len() > 1)
    )
    if twice.is_empty():
        return
    *key, rows = twice.row(0)
    first, second = table.where(*rows[:2])
    number = f"{twice.height:,}" if len(suspects) < _SUSPECTS else f"{twice.height:,} or more"
    more = f" ({number} outputs are there more than once)" if twice.height > 1 else ""
    raise InvalidDataError(
        f"{table.name}, {second}: the output of item {key[0]!r} by system {key[1]!r} is there "
        f"already on {first}{more}: keep one of them, or tell their items apart"
    )
