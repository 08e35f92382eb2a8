"""Whether whole groups of items were judged, such as documents, which nobody named as clusters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import gammaln

from steelyard.tables import Judgments, Outputs

__all__ = ["DrawnGroups", "drawn_groups"]

# Larger pools are not searched for groups.
_MOST_ROWS = 1_000_000
# So many standard deviations fewer groups than single items would reach are no chance.
_FEWER = 6.0
_OURS = {"item", "system", "output", "input", "reference", "cluster"}


@dataclass(frozen=True)
class DrawnGroups:
    """A column of which the judged items reach fewer groups than items drawn one by one would.

    Attributes
    ----------
    column : str
        Its name.
    reached, groups : int
        Groups with a judged item, and all of them.
    expected : float
        Groups that as many items, each drawn for itself, would reach on average.
    items : int
        Judged items.
    """

    column: str
    reached: int
    groups: int
    expected: float
    items: int

    @property
    def note(self) -> str:
        """What to say of it."""
        return (
            f"the {self.items} judged items lie in {self.reached} of {self.groups} values of {self.column}, where "
            f"items drawn one by one would lie in about {self.expected:.0f}. If whole groups were drawn, outputs of "
            f"one group may be alike, and intervals far too short: use --column cluster={self.column}. If groups "
            "were left out, no interval is about them"
        )


def drawn_groups(outputs: Outputs, judgments: Judgments) -> DrawnGroups | None:
    r"""Return the column whose groups were drawn whole, if there is one and none is named `cluster`.

    A group is drawn if one of its items is. Of n items out of N, a group of size g is missed with the
    probability :math:`\binom{N-g}{n}/\binom{N}{n}`. Groups are missed less often together than apart, so the
    number of groups reached has at most the variance of independent ones.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    judgments : Judgments
        The judgments.
    """
    known = {*outputs.columns, *judgments.frame.columns}
    columns = [one for one in outputs.columns if one not in _OURS and one not in outputs.metrics]
    if "cluster" in known or not columns or sum(outputs.sizes.values()) > _MOST_ROWS:
        return None
    rows = outputs.rows(columns=["item", *columns])
    chosen = judgments.frame["item"].unique()
    items = rows.group_by("item", maintain_order=True).agg(
        pl.col(columns).n_unique().name.suffix(" values"), pl.col(columns).first()
    )
    judged = items["item"].is_in(chosen.implode()).to_numpy()
    found = [_of(items, judged, column) for column in columns]
    return _clearest([one for one in found if one is not None])


def _of(items: pl.DataFrame, judged: NDArray[np.bool_], column: str) -> DrawnGroups | None:
    """Return the groups of one column if they were drawn whole; an item must be in one of them."""
    if items[f"{column} values"].max() != 1 or items[column].null_count():
        return None
    code = items.select(pl.col(column).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    size = np.bincount(code)
    total, n, groups = len(code), int(judged.sum()), len(size)
    if not 1 < groups <= total / 2 or not 1 < n < total:
        return None
    left = total - size
    with np.errstate(invalid="ignore", divide="ignore"):
        missed = gammaln(left + 1) - gammaln(left - n + 1) - gammaln(total + 1)
        missed = np.where(left >= n, np.exp(missed + gammaln(total - n + 1)), 0.0)
    expected, doubt = groups - missed.sum(), np.sqrt(np.sum(missed * (1 - missed)))
    reached = len(np.unique(code[judged]))
    if reached >= expected - _FEWER * doubt - 1:
        return None
    return DrawnGroups(column, reached, groups, float(expected), n)


def _clearest(found: Sequence[DrawnGroups]) -> DrawnGroups | None:
    """Return the column with the most groups missed: documents rather than the corpora they are from."""
    return max(found, key=lambda one: one.expected - one.reached, default=None)
