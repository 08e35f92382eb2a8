"""The answer in one sentence: which system is better, by how much, and what cannot be told."""

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from steelyard.numbers import decimals_for, interval, number
from steelyard.questions.pairs import PairDifference

if TYPE_CHECKING:
    from steelyard.questions.comparison import Comparison

__all__ = [
    "agreed_sentence",
    "answer_sentence",
    "better_pairs",
    "difference_decimals",
    "enumeration",
    "score_sentence",
]

# More names than this are counted, not listed.
_LISTED = 4
# An order of more systems than this is left to the table.
_ORDERED = 6


def better_pairs(pairs: Sequence[PairDifference], level: float) -> set[tuple[str, str]]:
    """Return the pairs of which the first is better for sure, margin or not."""
    known = [(pair, pair.better(level)) for pair in pairs]
    return {
        (pair.a, pair.b) if better == "a" else (pair.b, pair.a)
        for pair, better in known
        if better is not None
    }


def difference_decimals(pairs: Sequence[PairDifference]) -> int:
    """Return how many decimals of a difference the intervals of all pairs together can bear."""
    return decimals_for((pair.simultaneous_high - pair.simultaneous_low) / 2 for pair in pairs)


def answer_sentence(
    pairs: Sequence[PairDifference], order: Sequence[str], level: float, *, unit: str = ""
) -> str:
    """Return which system is better, by how much, and what cannot be told, in one sentence.

    Differences are given with the intervals that hold for all pairs together, as the verdicts do.

    Parameters
    ----------
    pairs : sequence of PairDifference
        The pairs that were compared.
    order : sequence of str
        All systems, best estimate first; empty unless all pairs were compared.
    level : float
        Confidence level of the verdicts.
    unit : str
        What differences are of, where they are not of mean scores.
    """
    if not pairs:
        return ""
    words = _Words(pairs, level, unit)
    if len(pairs) == 1:
        said = [words.alone(pairs[0])]
    elif not order:
        said = words.listed()
    else:
        said = words.ranked(order)
    return _opened("; ".join(said), [name for pair in pairs for name in (pair.a, pair.b)])


def agreed_sentence(found: "Sequence[Comparison | None]") -> str | None:
    """Return which systems may be best under all prompts alike; None if that differs, or of one prompt."""
    ranks = [() if one is None else one.ranks for one in found]
    best = {frozenset(rank.system for rank in own if rank.low == 1) for own in ranks}
    if len(found) < 2 or len(best) > 1 or not all(ranks):
        return None
    names = [rank.system for rank in ranks[0] if rank.low == 1]
    if len(names) == len(ranks[0]):
        return f"Under none of the {len(found)} prompts is it known yet which system is best."
    if len(names) == 1:
        return f"{names[0]} is best under all {len(found)} prompts."
    if len(names) > _LISTED:
        return f"Best under all {len(found)} prompts: one of the same {len(names)} systems."
    return f"Best under all {len(found)} prompts: {enumeration(names, 'or')}."


def score_sentence(system: str, value: float, low: float, high: float) -> str:
    """Return the mean human score of a single system, in a sentence."""
    places = decimals_for([(high - low) / 2])
    return f"{system} scores {number(value, places)} {interval(low, high, places)} on average."


def enumeration(names: Sequence[str], word: str = "and") -> str:
    """Return names as a phrase.

    Examples
    --------
    >>> enumeration(["a"]), enumeration(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class _Words:
    """Phrases about the pairs of a comparison."""

    def __init__(self, pairs: Sequence[PairDifference], level: float, unit: str) -> None:
        self._pairs = pairs
        self._unit = f" {unit}" if unit else ""
        self._better = better_pairs(pairs, level)
        self._known = {frozenset((pair.a, pair.b)): pair for pair in pairs}
        self._places = difference_decimals(pairs)
        self._open = [pair for pair in pairs if pair.verdict == "undecided"]

    def alone(self, pair: PairDifference) -> str:
        """Return what is known of one pair."""
        if (pair.a, pair.b) in self._better:
            return self._lead(pair.a, pair.b)
        if (pair.b, pair.a) in self._better:
            return self._lead(pair.b, pair.a)
        if pair.identical:
            return f"{pair.a} and {pair.b} have identical outputs"
        by = self._by(pair.a, pair.b)
        if pair.verdict == "equivalent":
            return f"{pair.a} and {pair.b} are equivalent: they differ by {by}"
        return f"{pair.a} and {pair.b} cannot be told apart: they differ by {by}{_more(pair, '; ')}"

    def listed(self) -> list[str]:
        """Return what is known of some pairs of many systems."""
        if len(self._pairs) <= _LISTED:
            return [self.alone(pair) for pair in self._pairs]
        said = [f"{len(self._better)} of {len(self._pairs)} pairs are told apart"]
        clear = [pair for pair in self._pairs if pair.verdict in {"a", "b"}]
        if clear:
            said.append(f"most clearly, {self.alone(min(clear, key=lambda one: one.p_value))}")
        return said

    def ranked(self, order: Sequence[str]) -> list[str]:
        """Return who may be best, who is worst, and which pairs cannot be told apart."""
        beaten = {worse for _, worse in self._better}
        beats = {better for better, _ in self._better}
        best = [one for one in order if one not in beaten]
        worst = [one for one in order if one not in beats]
        if len(best) == len(order):
            return [self._nothing(order)]
        said = [self._best(order, best)]
        if not self._open and len(order) <= _ORDERED and self._is_order(order):
            return [*said, f"then {', '.join(order[1:])}"] if len(order) > 2 else said
        if len(worst) == 1 and len(order) > 2:
            said.append(f"{worst[0]} is worst")
        rest = [pair for pair in self._open if {pair.a, pair.b} != set(best)]
        if len(rest) == 1:
            [pair] = rest
            said.append(f"{pair.a} and {pair.b} cannot be told apart{_more(pair, ', ')}")
        elif rest:
            said.append(f"{len(self._open)} of {len(self._pairs)} pairs cannot be told apart yet")
        return said

    def _best(self, order: Sequence[str], best: Sequence[str]) -> str:
        if not best:
            return "preferences go round in a circle, so no system is best"
        if len(best) == 1:
            [one] = best
            rival = next(other for other in order if (one, other) in self._better)
            is_best = "is" if len(order) == 2 else "is best,"
            return f"{one} {is_best} better than {rival} by {self._by(one, rival)}"
        if len(best) == 2:
            return self._two(best, self._known[frozenset(best)])
        if len(best) <= _LISTED:
            return f"best: {enumeration(best, 'or')}"
        named, more = ", ".join(best[: _LISTED - 1]), len(best) - _LISTED + 1
        return f"best: one of {len(best)} of the {len(order)} systems ({named} and {more} more)"

    def _two(self, best: Sequence[str], pair: PairDifference) -> str:
        a, b = best
        if pair.identical:
            return f"best: {a} and {b}, whose outputs are identical"
        if pair.verdict == "equivalent":
            return f"best: {a} and {b}, which are equivalent"
        return f"best: {a} or {b}{_more(pair, ', ')}"

    def _nothing(self, order: Sequence[str]) -> str:
        """Say that no pair is decided, and what is nearest to a decision."""
        if not self._open:
            identical = all(pair.identical for pair in self._pairs)
            return f"all {len(order)} systems {'have identical outputs' if identical else 'are equivalent'}"
        near = min(self._open, key=lambda one: (one.p_value, -abs(one.difference)))
        place = {name: number for number, name in enumerate(order)}
        upper, lower = sorted((near.a, near.b), key=lambda name: place[name])
        return (
            f"no two of the {len(order)} systems can be told apart yet: the clearest difference, {upper} over "
            f"{lower}, is {self._by(upper, lower)}{_more(near, '; ')}"
        )

    def _is_order(self, order: Sequence[str]) -> bool:
        return all(pair in self._better for pair in combinations(order, 2))

    def _lead(self, better: str, worse: str) -> str:
        return f"{better} is better than {worse} by {self._by(better, worse)}"

    def _by(self, upper: str, lower: str) -> str:
        """Return the lead of one system over another with its interval, greater than 0 for the better one."""
        pair = self._known[frozenset((upper, lower))]
        turned = (pair.a != upper) != pair.lower_is_better
        sign = -1 if turned else 1
        low, high = sorted((sign * pair.simultaneous_low, sign * pair.simultaneous_high))
        value = sign * pair.difference
        places = self._places
        return f"{number(value, places)} {interval(low, high, places)}{self._unit}"


def _more(pair: PairDifference, before: str) -> str:
    """Return how many more judgments would decide a pair, where that is known."""
    if not pair.more_judgments:
        return ""
    return f"{before}about {pair.more_judgments:,} more judgments would decide"


def _opened(sentence: str, names: Collection[str]) -> str:
    """Begin with a capital letter, unless the first word is the name of a system, and end with a stop."""
    if not any(sentence.startswith((f"{name} ", f"{name},")) for name in names):
        sentence = sentence[:1].upper() + sentence[1:]
    return f"{sentence}."
