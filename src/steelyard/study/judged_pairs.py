"""The judged pairs of systems under a prompt that asks for preferences."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidDataError, NotEstimableError
from steelyard.estimate.preferences import JudgedPair
from steelyard.study.shared_texts import SharedTexts

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["JudgedPairs", "judged_pairs"]

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Judged pairs of systems, with the order of each judgment's outputs.

    Attributes
    ----------
    names : tuple of str
        The systems that pairs are numbered by.
    pairs : list of JudgedPair
        The pairs in question first.
    first : list of array of int
        Of each pair's judgments: 1 where a was shown first, -1 where b was, 0 where it is not known.
    asked : int
        How many pairs are in question.
    notes : tuple of str
        What a reader must know.
    """

    names: tuple[str, ...]
    pairs: list[JudgedPair]
    first: list[NDArray[np.int64]]
    asked: int
    notes: tuple[str, ...]


def judged_pairs(
    study: "Study",
    rows: pl.DataFrame,
    metrics: Sequence[str],
    pairs: Sequence[Pair] | None,
    systems: Sequence[str],
) -> JudgedPairs:
    """Return the judged pairs, on items on which the two differ.

    Parameters
    ----------
    study : Study
        The pools.
    rows : polars.DataFrame
        What `preference_rows` gave.
    metrics : sequence of str
        Metrics whose differences may explain preferences.
    pairs : sequence of (str, str) or None
        The pairs in question; all that were judged by default.
    systems : sequence of str
        The systems in question.
    """
    judged = dict(rows.partition_by("a", "b", as_dict=True))
    everyone = {one for pair in judged for one in pair}
    names = tuple(one for one in study.systems if one in everyone or pairs is not None)
    _check_pool(study, rows)
    texts = SharedTexts.of(study.outputs, names, metrics)
    raters = {one: number for number, one in enumerate(sorted(rows["rater"].unique()))}
    chosen = [one for one in names if one in systems]
    asked = _asked(judged, texts, pairs, chosen)
    # Other pairs teach the control and the raters' taste.
    others = [] if pairs is None else [one for one in judged if not {one, one[::-1]} & {*asked}]
    found, firsts, left_out = [], [], 0
    for a, b in (*asked, *others):
        one, first, dropped = _judged_pair(texts, judged, (a, b), raters)
        found.append(one)
        firsts.append(first)
        left_out += dropped
    notes = ["clusters are not counted: the interval may be too short"]
    notes = notes if "cluster" in {*study.outputs.columns, *study.judgments.frame.columns} else []
    if left_out:
        notes.append(f"{left_out} judgments are of identical outputs, which tie: they are left out")
    return JudgedPairs(names, found, firsts, len(asked), tuple(notes))


def _check_pool(study: "Study", rows: pl.DataFrame) -> None:
    """Raise if an output that was compared is not in the pool."""
    pool = study.outputs.rows(columns=["item", "system"])
    for side in ("a", "b"):
        missing = rows.join(pool, left_on=["item", side], right_on=["item", "system"], how="anti")
        if missing.height:
            item, system = missing["item"][0], missing[side][0]
            raise InvalidDataError(
                f"{study.judgments.name}: the output of item {item!r} by system {system!r} is judged but "
                f"not in {study.outputs.name}: add it, or leave the judgment out"
            )


def _asked(
    judged: dict[tuple[object, ...], pl.DataFrame],
    texts: SharedTexts,
    pairs: Sequence[Pair] | None,
    systems: Sequence[str],
) -> list[Pair]:
    """Return the pairs in question: those that were compared, or whose outputs are all the same."""

    def known(a: str, b: str) -> bool:
        return (a, b) in judged or (b, a) in judged or texts.all_identical(a, b)

    if pairs is None:
        found = [pair for pair in combinations(systems, 2) if known(*pair)]
        if not found:
            raise NotEstimableError(f"no two of the systems {', '.join(systems)} were compared")
        return found
    found = [pair for pair in pairs if known(*pair)]
    if not found:
        a, b = pairs[0]
        raise NotEstimableError(f"no judgment compares {a!r} with {b!r}")
    return found


def _judged_pair(
    texts: SharedTexts,
    judged: dict[tuple[object, ...], pl.DataFrame],
    pair: Pair,
    raters: dict[str, int],
) -> tuple[JudgedPair, NDArray[np.int64], int]:
    """Return the judgments of a pair where the two differ, their order, and how many were left out."""
    a, b = (texts.names.index(one) for one in pair)
    sign = 1 if pair in judged else -1
    rows = judged.get(pair, judged.get(pair[::-1]))
    both = (texts.codes[:, a] >= 0) & (texts.codes[:, b] >= 0)
    differs = both & (texts.codes[:, a] != texts.codes[:, b])
    items = np.array([] if rows is None else [texts.items[one] for one in rows["item"]], np.int64)
    kept = differs[items]
    item = items[kept]
    place = np.searchsorted(np.flatnonzero(differs), np.unique(item))
    gap = texts.metrics[differs, a] - texts.metrics[differs, b]
    net, first, rater = np.zeros((3, 0))
    if rows is not None:
        net, first = (sign * rows[name].to_numpy()[kept] for name in ("net", "first"))
        rater = np.array([raters[one] for one in rows["rater"]], np.int64)[kept]
    one = JudgedPair(
        a=a,
        b=b,
        net=net.astype(np.float64),
        item=item,
        rater=rater.astype(np.int64),
        items=int(both.sum()),
        identical=int(both.sum() - differs.sum()),
        metric=gap,
        place=place,
    )
    return one, first.astype(np.int64), int((~kept).sum())
