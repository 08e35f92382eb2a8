"""Outputs of an item compared two at a time, in both orders."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from steelyard.errors import InvalidArgumentError
from steelyard.judge.judged import Judged, PlaceEffect
from steelyard.judge.rubric import Rubric

__all__ = ["PREFERENCE_COLUMNS", "Pairing"]

# Of a row for each pair and order, as `steelyard compare` reads preferences.
PREFERENCE_COLUMNS = ("item", "system", "other_system", "rater", "prompt", "score", "first_system")

_ALONE = "no other output of this item to compare with"


@dataclass(frozen=True, eq=False)
class Pairing:
    """Which outputs are compared, by their positions.

    Attributes
    ----------
    items, systems : sequences of str, length n
        Where each output belongs.
    pairs : list of (int, int)
        Outputs that are compared. Each pair is asked about twice: as it stands here, and turned round.
    identical : frozenset of (int, int)
        Pairs of the same text, which tie without a question.
    """

    items: Sequence[str]
    systems: Sequence[str]
    pairs: list[tuple[int, int]]
    identical: frozenset[tuple[int, int]]

    @classmethod
    def of(
        cls,
        items: Sequence[str],
        systems: Sequence[str],
        outputs: Sequence[str],
        *,
        baseline: str = "",
    ) -> Self:
        """Pair the outputs of each item, all with all or all with those of one system.

        Raises
        ------
        InvalidArgumentError
            If there is no such system, or nothing to compare.

        Examples
        --------
        >>> Pairing.of(["i", "i", "j", "i"], ["a", "b", "a", "c"], ["x", "y", "z", "x"]).pairs
        [(0, 1), (3, 0), (1, 3)]
        """
        if baseline and baseline not in systems:
            known = ", ".join(dict.fromkeys(systems))
            raise InvalidArgumentError(
                f"`baseline` of a rubric must be one of {known}; got {baseline!r}"
            )
        members: dict[str, list[int]] = {}
        for position, item in enumerate(items):
            members.setdefault(item, []).append(position)
        pairs = [
            pair
            for some in members.values()
            for pair in combinations(some, 2)
            if not baseline or baseline in {systems[pair[0]], systems[pair[1]]}
        ]
        if not pairs:
            raise InvalidArgumentError(
                "a rubric with {other_output} compares outputs of one item by two systems; none of these "
                "items has two (--limit takes the first outputs of the file)"
            )
        # the first one changes places from pair to pair, so that no system is always asked about first
        turned = [pair if number % 2 == 0 else pair[::-1] for number, pair in enumerate(pairs)]
        same = frozenset((a, b) for a, b in turned if outputs[a] == outputs[b])
        return cls(items, systems, turned, same)

    @property
    def asked(self) -> list[tuple[int, int]]:
        """The outputs of each question, the one that is shown first before the other."""
        different = [pair for pair in self.pairs if pair not in self.identical]
        return [*different, *(pair[::-1] for pair in different)]

    def compared(self, judged: Judged, rubric: Rubric, *, model: str) -> Judged:
        """Make preferences of the scores of all questions.

        Parameters
        ----------
        judged : Judged
            The scores of the questions `asked`.
        rubric : Rubric
            What was asked.
        model : str
            Who was asked.
        """
        # preference for the output that was shown first, from 0 to 1
        first = 1 - (judged.scores - rubric.low) / (rubric.high - rubric.low)
        half = len(self.asked) // 2
        by_order = dict(zip(self.asked, first, strict=True))
        reasons = dict(zip(self.asked, judged.reasons, strict=True))
        rows, shares, missing = [], {}, {}
        for pair in self.pairs:
            a, b = pair
            if pair in self.identical:
                shares[pair] = 0.5
                continue
            one, other = by_order[a, b], by_order[b, a]
            shares[pair] = (one + 1 - other) / 2
            if math.isnan(shares[pair]):
                missing[pair] = reasons[a, b] or reasons[b, a]
            for nth, (x, y) in enumerate((pair, pair[::-1]), start=1):
                if not math.isnan(by_order[x, y]):
                    rows.append(self._row(x, y, by_order[x, y], f"{model}, order {nth}", rubric))
        scores, why = self._scores(shares, missing)
        return replace(
            judged,
            scores=scores,
            reasons=why,
            mass=None,
            explanations=None,
            preferences=rows,
            order=self._order_effect(first[:half], first[half:]),
        )

    def _row(self, a: int, b: int, share: float, rater: str, rubric: Rubric) -> dict[str, Any]:
        return {
            "item": self.items[a],
            "system": self.systems[a],
            "other_system": self.systems[b],
            "rater": rater,
            "prompt": f"judge.{rubric.name}",
            "score": 0.5 if share == 0.5 else float(share > 0.5),
            "first_system": self.systems[a],
        }

    def _scores(
        self, shares: dict[tuple[int, int], float], missing: dict[tuple[int, int], str | None]
    ) -> tuple[NDArray[np.float64], tuple[str | None, ...]]:
        gained: list[list[float]] = [[] for _ in self.items]
        lacking: list[str | None] = [None for _ in self.items]
        for (a, b), share in shares.items():
            gained[a].append(share)
            gained[b].append(1 - share)
            if (a, b) in missing:
                lacking[a] = lacking[b] = missing[a, b]
        scores = [math.fsum(some) / len(some) if some else math.nan for some in gained]
        why = (
            None if not math.isnan(score) else (reason if some else _ALONE)
            for score, reason, some in zip(scores, lacking, gained, strict=True)
        )
        return np.array(scores), tuple(why)

    def _order_effect(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> PlaceEffect:
        known = ~np.isnan(one + other)
        n_pairs = int(known.sum())
        if not n_pairs:
            return PlaceEffect(0, 0, None, None, None)
        changed = np.sign(one[known] - 0.5) != np.sign(0.5 - other[known])
        share = (one[known] + other[known]) / 2
        pairs = [pair for pair in self.pairs if pair not in self.identical]
        items = [self.items[pair[0]] for pair, there in zip(pairs, known, strict=True) if there]
        _, group = np.unique(items, return_inverse=True)
        mean, n_items = float(share.mean()), int(group.max()) + 1
        width = math.nan
        if n_items > 1:
            # a ratio of totals over items: pairs of one item share its texts
            totals = np.bincount(group, weights=share - mean)
            variance = n_items / (n_items - 1) * float(totals @ totals) / n_pairs**2
            width = float(stdtrit(n_items - 1, 0.975)) * math.sqrt(variance)
        return PlaceEffect(
            n_pairs, int(changed.sum()), mean, max(mean - width, 0.0), min(mean + width, 1.0)
        )
