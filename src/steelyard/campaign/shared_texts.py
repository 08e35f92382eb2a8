"""Judgments of texts that several systems wrote: which count, and for whom."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from steelyard.campaign.judged import JudgedOutputs
from steelyard.model.campaign import Bools, Ints
from steelyard.records import UNKNOWN_RATER

__all__ = ["kept_judgments"]

# More groups of systems, and more systems of a group, than this are counted, not listed.
_LISTED = 3


def kept_judgments(
    rows: pl.DataFrame, code: Sequence[Ints], outputs: JudgedOutputs, *, parts: Mapping[str, str]
) -> tuple[Bools, tuple[str, ...]]:
    """Return which judgments count, and say which do not, and which count for several systems.

    Parameters
    ----------
    rows : polars.DataFrame
        The judgments.
    code : sequence of (n,) arrays of int
        The judged output of each; of preferences the two outputs.
    outputs : JudgedOutputs
        The judged outputs.
    parts : mapping of str to str
        The systems that slices are parts of.
    """
    if len(code) > 1:
        kept = code[0] != code[1]
        same = int((~kept).sum())
        said = f"{same} judgments are of identical outputs, which tie: they are left out"
        return kept, (said,) if same else ()
    kept = np.ones(rows.height, dtype=np.bool_)
    several = (outputs.writers[code[0]] > 0).sum(axis=1) > 1
    if not several.any():
        return kept, ()
    notes = []
    copies = rows.select("system", "rater", "score").with_columns(
        output=pl.Series(code[0]),
        first=pl.col("system").first().over(pl.Series(code[0]), "rater", "score"),
    )
    again = ((copies["system"] != copies["first"]) & (copies["rater"] != UNKNOWN_RATER)).to_numpy()
    kept = ~(several & again)
    if not kept.all():
        notes.append(
            f"{int((~kept).sum())} judgments are there for several systems that wrote the same text, by the "
            "same rater with the same score: each counts once, for all of these systems"
        )
    notes.append(_counted(code[0][several & kept], outputs, parts))
    return kept, tuple(notes)


def _counted(code: Ints, outputs: JudgedOutputs, parts: Mapping[str, str]) -> str:
    """Say how many judgments of which texts count for whom."""
    texts, times = np.unique(code, return_counts=True)
    by_writers: Counter[tuple[str, ...]] = Counter()
    example: dict[tuple[str, ...], str] = {}
    number: Counter[tuple[str, ...]] = Counter()
    for text, count in zip(texts, times, strict=True):
        writers = [outputs.systems[one] for one in np.flatnonzero(outputs.writers[text])]
        names = tuple(dict.fromkeys(parts.get(one, one) for one in writers))
        by_writers[names] += int(count)
        number[names] += 1
        example.setdefault(names, outputs.items[outputs.item[text]])
    listed = [
        f"{count} judgments of {number[names]} texts by {_together(names)} (such as item {example[names]})"
        for names, count in by_writers.most_common(_LISTED)
    ]
    rest = len(by_writers) - len(listed)
    more = f"; and those of {rest} more groups of systems" if rest else ""
    return f"what several systems wrote counts for each of them: {'; '.join(listed)}{more}"


def _together(names: Sequence[str]) -> str:
    shown = (
        list(names)
        if len(names) <= _LISTED + 1
        else [*names[:_LISTED], f"{len(names) - _LISTED} more"]
    )
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
