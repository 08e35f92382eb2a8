"""What a judge found, and what it cost."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.judge.reply import Reply

__all__ = ["JudgeSummary", "Judged", "PlaceEffect", "Progress", "Usage"]


@dataclass(slots=True)
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
    """

    asked: int = 0
    from_cache: int = 0
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0

    def count(self, reply: Reply) -> None:
        """Count the tokens of a reply."""
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.uncounted += reply.tokens_in is None or reply.tokens_out is None

    def cost(self, prices: tuple[float, float] | None) -> float | None:
        """Return the price of the tokens, at prices for a million of them; None without prices.

        Examples
        --------
        >>> Usage(tokens_in=2_000_000, tokens_out=500_000).cost((0.5, 2.0))
        2.0
        """
        if prices is None:
            return None
        return (self.tokens_in * prices[0] + self.tokens_out * prices[1]) / 1e6


# Called after each question: the number done, the number to ask, and the usage so far.
Progress = Callable[[int, int, Usage], None]


@dataclass(frozen=True, slots=True)
class PlaceEffect:
    """How much a judge prefers an output because it is shown first.

    Attributes
    ----------
    n_pairs : int
        Pairs with a valid reply in both orders.
    n_changed : int
        Those of which another output was preferred, or none, when the order changed.
    first_share : float or None
        Mean preference for the output that is shown first, from 0 to 1; 0.5 if the order does not matter.
        None without pairs.
    low, high : float or None
        A 95% interval of it, over items like these; None if fewer than two items were compared.
    """

    n_pairs: int
    n_changed: int
    first_share: float | None
    low: float | None
    high: float | None

    @property
    def sentence(self) -> str:
        """What it says, in words."""
        if self.first_share is None:
            return "order: no pair has a reply in both orders"
        within = ""
        if self.low is not None and self.high is not None:
            within = f" (95% interval {self.low:.1%} to {self.high:.1%})"
        first = f"the output shown first gets {self.first_share:.1%} of the preference{within}"
        changed = f"{self.n_changed:,} of {self.n_pairs:,} pairs change with the order"
        return f"order: {first}; this cancels. {changed}"


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeSummary:
    """What one model was asked by one rubric, and what came of it.

    Attributes
    ----------
    model, rubric, column : str
        Who was asked, how, and the column of the scores.
    n_outputs, n_missing : int
        Outputs, and those without a score.
    failures : dict of str to int
        Outputs without a score by kind of failure.
    usage, cost, n_partly, order
        As in `Judged`.
    mean_mass, least_mass : float or None
        Probability that the model puts on the scale, where scores are of probabilities.
    """

    model: str
    rubric: str
    column: str
    n_outputs: int
    n_missing: int
    failures: dict[str, int]
    usage: Usage
    cost: float | None
    mean_mass: float | None
    least_mass: float | None
    n_partly: int
    order: PlaceEffect | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged:
    """The scores that a judge gave.

    Attributes
    ----------
    scores : (n,) array of float
        The score of each output; NaN where there is no valid reply. Of a rubric that compares, the
        share of preference that the output gets, from 0 to 1: the mean over the outputs that it was
        compared with, and over both orders. A bias towards either place cancels.
    reasons : tuple of str or None, length n
        Why there is no score; None where there is one.
    mass : (n,) array of float, or None
        With ``score = "logits"``, the probability of the tokens that are scores, before it was
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
    preferences : list of dict
        Of a rubric that compares, a row for each pair and order, as `steelyard compare` reads them.
    order : PlaceEffect or None
        Whether the order matters to a judge that compares.
    """

    scores: NDArray[np.float64]
    reasons: tuple[str | None, ...]
    mass: NDArray[np.float64] | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    explanations: tuple[str | None, ...] | None = None
    n_partly: int = 0
    criteria: "dict[str, Judged]" = field(default_factory=dict)
    preferences: list[dict[str, Any]] = field(default_factory=list)
    order: PlaceEffect | None = None

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
        >>> Judged(scores=np.array([4, np.nan, np.nan]), reasons=reasons).failures
        {'HTTP 500': 2}
        """
        kinds = Counter(reason.partition(":")[0] for reason in self.reasons if reason is not None)
        return dict(kinds.most_common())

    def columns(self, name: str) -> dict[str, list[Any]]:
        """Return scores, reasons and explanations as columns; of each criterion, if there are any.

        Examples
        --------
        >>> Judged(scores=np.array([4, np.nan]), reasons=(None, "empty reply")).columns("judge.fluency")
        {'judge.fluency': [4.0, None], 'judge.fluency.reason': [None, 'empty reply']}
        """
        if self.criteria:
            columns = [one.columns(f"{name}.{key}") for key, one in self.criteria.items()]
            return {key: values for some in columns for key, values in some.items()}
        found: dict[str, list[Any]] = {
            name: [None if np.isnan(score) else float(score) for score in self.scores],
            f"{name}.reason": list(self.reasons),
        }
        if self.explanations is not None:
            found[f"{name}.explanation"] = list(self.explanations)
        return found

    def summary(self, *, model: str, rubric: str, column: str) -> "JudgeSummary":
        """Return what was asked, found and counted, about the column of this name."""
        known = self.mass is not None and self.n_missing < len(self.scores)
        mass = self.mass[~np.isnan(self.mass)] if known and self.mass is not None else None
        return JudgeSummary(
            model=model,
            rubric=rubric,
            column=column,
            n_outputs=len(self.scores),
            n_missing=self.n_missing,
            failures=self.failures,
            usage=self.usage,
            cost=self.cost,
            mean_mass=None if mass is None else float(mass.mean()),
            least_mass=None if mass is None else float(mass.min()),
            n_partly=self.n_partly,
            order=self.order,
        )

    def lines(self, name: str) -> list[str]:
        """Return what was asked, found and counted, as lines about a column of this name."""
        usage, n_outputs = self.usage, len(self.scores)
        tokens = f"tokens {usage.tokens_in:,} in, {usage.tokens_out:,} out"
        if usage.uncounted:
            tokens += f" ({usage.uncounted:,} replies came without a count)"
        if self.cost is not None:
            tokens += f"; cost {self.cost:.4f}"
        asked = f"asked {usage.asked:,} questions in {usage.requests:,} requests"
        lines = [
            f"{name} for {n_outputs - self.n_missing:,} of {n_outputs:,} outputs",
            f"{asked}; {usage.from_cache:,} from the cache",
            tokens,
        ]
        if self.mass is not None and self.n_missing < n_outputs:
            least, mean = np.nanmin(self.mass), np.nanmean(self.mass)
            lines.append(f"probability on the scale: {mean:.3f} on average, {least:.3f} at least")
        if self.n_partly:
            lines.append(f"{self.n_partly:,} scores are means of fewer samples than asked for")
        lines += [self.order.sentence] if self.order is not None else []
        lines += [f"without a score: {count:,} {kind}" for kind, count in self.failures.items()]
        if self.n_missing:
            lines.append(
                "An estimate needs a score on every output: run the same command again, or fill the gaps "
                "by a rule that does not look at judgments, such as the mean score"
            )
        return lines
