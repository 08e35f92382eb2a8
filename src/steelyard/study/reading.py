"""The tables of a study and of its earlier versions, read with the same choices."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.campaign.files import StudyFiles
from steelyard.campaign.versions import campaign_files, joined
from steelyard.records import names_of
from steelyard.tables import Judgments, Outputs
from steelyard.tables.column_names import Columns

__all__ = ["Earlier", "Tables", "read_tables"]

# Folders of earlier versions, or their tables.
Earlier = str | PathLike[str] | Sequence[str | PathLike[str] | tuple[Any, ...]]
# Outputs, judgments, and what is to be said of both.
Tables = tuple[Outputs, Judgments, tuple[str, ...]]


def read_tables(
    outputs: Any,
    judgments: Any,
    *,
    columns: Columns,
    systems: tuple[str, ...] | None,
    earlier: Earlier | None,
    **choices: tuple[str, ...] | None,
) -> tuple[Tables, Tables | None]:
    """Read a study; where there are earlier versions also the same without them.

    Parameters
    ----------
    outputs, judgments, columns, systems, earlier
        As in `Study.read`.
    **choices
        Its other names; see `StudyFiles`.
    """
    human = names_of(columns.get("score")) if judgments is None else None
    renamed = {ours: str(theirs) for ours, theirs in columns.items() if ours != "score"}
    if judgments is not None and "score" in columns:
        renamed["judgments:score"] = str(columns["score"])
    files = StudyFiles(outputs, judgments, columns=renamed, human=human, **choices)
    pool, judged, notes = files.read(systems)
    if earlier is None:
        return (pool, judged, notes), None
    others = replace(files, human=None, exclude_systems=None)
    old = [
        (name, *replace(others, outputs=pool_of, judgments=judged_of).read(None)[:2])
        for name, pool_of, judged_of in _tables_of(earlier)
    ]
    both = joined(pool, judged, old)
    whole = replace(
        others,
        outputs=both.outputs,
        judgments=both.judgments,
        columns={},
        metrics=pool.metrics,
        exclude_metrics=None,
    )
    pool_of_all, judged_of_all, _ = whole.read(None)
    # anchors are of earlier versions, whatever their system is called
    keys = pool.rows(columns=["item", "system"]).select(pl.struct("item", "system"))
    own = judged.filter(pl.struct("item", "system").is_in(keys.to_series().implode()))
    return (pool_of_all, judged_of_all, (*notes, *both.notes)), (pool, own, notes)


def _tables_of(earlier: Earlier) -> list[tuple[str, Any, Any]]:
    """Return name, outputs and judgments of each earlier version."""
    some = [earlier] if isinstance(earlier, str | PathLike) else list(earlier)
    found: list[tuple[str, Any, Any]] = []
    for place, one in enumerate(some, start=1):
        if isinstance(one, str | PathLike):
            found += campaign_files(Path(one))
        elif len(one) == 2:
            found.append((f"earlier version {place}", *one))
        else:
            found.append(one)
    return found
