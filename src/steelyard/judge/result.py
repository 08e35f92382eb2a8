"""What a judge found, and what it cost."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Judged", "Progress", "Usage"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked, and the tokens that were counted for it.

    Attributes
    ----------
    asked : int
        Questions put to the endpoint in this run, each counted once however often it was tried.
    from_cache : int
        Questions whose reply was kept from an earlier run.
    requests : int
        Requests sent, with those that were repeated.
    tokens_in, tokens_out : int
        Tokens of the replies to the questions asked in this run, as the endpoint counted them.
        What a request that failed may have used is not known.
    uncounted : int
        Replies that came without a count.
    batches : tuple of str
        Batches that the replies came in, as the endpoint names them.
    """

    asked: int = 0
    from_cache: int = 0
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0
    batches: tuple[str, ...] = ()

    def cost(self, price_in: float, price_out: float) -> float:
        """Return the price of the tokens, at prices for a million of them.

        Examples
        --------
        >>> Usage(tokens_in=2_000_000, tokens_out=500_000).cost(0.5, 2.0)
        2.0
        """
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1e6


# Told after each question: the number done, the number to ask, and the usage so far.
Progress = Callable[[int, int, Usage], None]


@dataclass(frozen=True, eq=False)
class Judged:
    """The scores that a judge gave.

    Attributes
    ----------
    scores : (n,) array of float
        The score of each output; NaN where there is no valid reply.
    reasons : tuple of str or None, length n
        Why there is no score; None where there is one.
    mass : (n,) array of float, or None
        With ``score="logits"``, the probability of the tokens that are scores, before it was
        scaled to 1. Little of it means that the model would rather have said something else.
    usage : Usage
        What was asked and counted.
    cost : float or None
        The price of this run; None if prices were not given.
    explanations : tuple of str or None, or None
        What the judge says about each score, with a rubric that asks for it (``answer = "json"``).
    n_partly : int
        Outputs whose score is a mean of fewer samples than were asked for.
    criteria : dict of str to Judged
        With a rubric that has criteria, the same replies read by each of them; `scores` is then the mean
        of all, where all are valid.
    """

    scores: Floats
    reasons: tuple[str | None, ...]
    mass: Floats | None
    usage: Usage
    cost: float | None
    explanations: tuple[str | None, ...] | None = None
    n_partly: int = 0
    criteria: dict[str, Self] = field(default_factory=dict)

    @property
    def n_missing(self) -> int:
        """Number of outputs without a score."""
        return int(np.isnan(self.scores).sum())

    @property
    def failures(self) -> dict[str, int]:
        """Number of outputs without a score by kind of failure, the most frequent first.

        Examples
        --------
        >>> reasons = (None, "HTTP 500: overloaded", "HTTP 500: out of memory")
        >>> Judged(np.array([4, np.nan, np.nan]), reasons, None, Usage(), None).failures
        {'HTTP 500': 2}
        """
        kinds = Counter(reason.partition(":")[0] for reason in self.reasons if reason is not None)
        return dict(kinds.most_common())
