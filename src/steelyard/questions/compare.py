"""Which system is better: differences, ranks and groups of the systems of a campaign."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.model.fit import Answers
from steelyard.model.intervals import Intervals
from steelyard.model.simultaneous import Together
from steelyard.model.threads import one_thread
from steelyard.names import known_names
from steelyard.questions.about import About, Raters
from steelyard.questions.asked import Asked
from steelyard.questions.comparison import Comparison, step_note
from steelyard.questions.comparisons import Comparisons
from steelyard.questions.fitted import Fits, PromptFit
from steelyard.questions.more import GO_ON, more_judgments
from steelyard.questions.pairs import Answer as GateAnswer
from steelyard.questions.pairs import Gate, PairDifference, verdict_of
from steelyard.questions.preferences import preference_comparison
from steelyard.questions.quantities import Quantity, quantities
from steelyard.questions.ranks import Rank, groups_of, ranks_of

__all__ = [
    "Standing",
    "comparisons",
    "gate_answer",
    "pairs_asked",
    "prompt_comparisons",
    "standings",
]

Pair = tuple[str, str]

# More pairs than this are not ranked.
_MOST_PAIRS = 5_000


@dataclass(frozen=True)
class Standing:
    """The ranks that a system may have, 1 for the best, and the number of its group."""

    low: int
    high: int
    group: int


def gate_answer(
    found: Sequence[Comparison], gate: Gate, margin: float | None
) -> tuple[GateAnswer, str]:
    """Return whether a gate holds for all pairs and prompts, and say so in one line.

    Parameters
    ----------
    found : sequence of Comparison
        What `Study.compare` gave.
    gate : {"better", "not-worse", "equivalent"}
        What is asked of the first system of each pair.
    margin : float or None
        Differences that do not matter.
    """
    answers = [
        (one, pair.answer(gate, margin, one.level), pair) for one in found for pair in one.pairs
    ]
    for kind in ("fails", "undecided"):
        for one, answer, pair in answers:
            if answer == kind:
                where = f"{one.place}: {pair.a} against {pair.b}, {pair.difference:+.3g} "
                where += f"[{pair.simultaneous_low:.3g}, {pair.simultaneous_high:.3g}]"
                more = pair.more_judgments if gate == "better" and margin is None else None
                needed = "" if not more else f"; about {more:,} more judgments would decide"
                needed += f"; {GO_ON}" if kind == "undecided" else ""
                return (
                    answer,
                    f"gate {gate} {'is ' if kind == 'undecided' else ''}{kind}: {where}{needed}",
                )
    slices = dict.fromkeys(one.slice for one in found if one.slice is not None)
    where = f" in each of {', '.join(slices)}" if len(slices) > 1 else ""
    return "holds", f"gate {gate} holds{where}"


@one_thread()
def comparisons(
    fits: Fits, asked: Asked, pairs: Sequence[Pair] | None = None, *, margin: float | None = None
) -> Comparisons:
    """Return the comparisons of all prompts in question; see `Study.compare`.

    Parameters
    ----------
    fits : Fits
        The models.
    asked : Asked
        The prompts and systems in question.
    pairs : sequence of (str, str), optional
        Which to compare; all pairs by default, with ranks and groups.
    margin : float, optional
        Differences within it count as equivalent.
    """
    judgments = fits.source.judgments
    found: list[Comparison] = []
    refused: list[NotEstimableError] = []
    for prompt in asked.prompts:
        lower = prompt in judgments.lower_is_better
        try:
            if prompt in judgments.preference_prompts:
                found.append(preference_comparison(fits.of(prompt), asked, pairs, margin=margin))
                continue
            found += prompt_comparisons(
                fits.of(prompt), asked, pairs, margin=margin, lower_is_better=lower
            )
        except NotEstimableError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    notes = (*fits.notes, *(f"left out: {one}" for one in refused))
    return Comparisons(replace(one, notes=(*notes, *one.notes)) for one in found)


def prompt_comparisons(
    found: PromptFit,
    asked: Asked,
    pairs: Sequence[Pair] | None = None,
    *,
    margin: float | None = None,
    lower_is_better: bool = False,
) -> list[Comparison]:
    """Compare systems under one prompt, in each slice.

    Parameters
    ----------
    found : PromptFit
        The model.
    asked : Asked
        The systems in question, and what intervals are about.
    pairs : sequence of (str, str) or None
        Which to compare; all pairs of the systems by default, with ranks and groups.
    margin : float or None
        Differences within it count as equivalent.
    lower_is_better : bool
        Whether lower scores are better.

    Raises
    ------
    NotEstimableError
        If no pair can be compared.
    """
    known = found.collected
    mode, remarks = found.raters(asked.raters)
    named = (
        asked.systems
        if pairs is None
        else tuple(dict.fromkeys(one for pair in pairs for one in pair))
    )
    chosen, missing = quantities(found, named)
    those = _pairs_of(chosen, pairs)
    if not those:
        raise NotEstimableError(f"prompt {found.prompt!r}: {_why_none(found, asked, pairs)}")
    differences = _Differences.of(found, those, asked, mode, lower=lower_is_better)
    left_out = [
        f"{one} is left out: {found.left_out[one]}"
        for one in asked.systems
        if one in found.left_out
    ]
    comparisons = []
    needed = differences.more(margin)
    for name in dict.fromkeys(a.slice for a, _ in those):
        own = [place for place, (a, _) in enumerate(those) if a.slice == name]
        results = tuple(differences.pair(place, margin, needed[place]) for place in own)
        inside = [one for one in chosen if one.slice == name]
        ranks = differences.ranks(inside) if pairs is None and not known.paired else ()
        groups = groups_of([one.system for one in ranks], differences.better(name)) if ranks else ()
        said = [f"{one.system}: {note}" for one in inside for note in one.notes]
        about_pairs = _remarks(results, asked.level, paired=known.paired, once=differences.once)
        comparisons.append(
            Comparison(
                prompt=found.prompt,
                slice=name,
                level=asked.level,
                about=About.of(asked.target, mode, part=name),
                margin=margin,
                lower_is_better=lower_is_better,
                pairs=results,
                ranks=ranks,
                groups=groups,
                notes=(*left_out, *found.notes, *remarks, *missing, *said, *about_pairs),
            )
        )
    return comparisons


def standings(
    found: PromptFit,
    chosen: Sequence[Quantity],
    asked: Asked,
    raters: Raters,
    *,
    lower_is_better: bool,
) -> dict[tuple[str | None, str], Standing]:
    """Return the ranks and groups of systems by slice, as `prompt_comparisons` gives them.

    Parameters
    ----------
    found : PromptFit
        The model.
    chosen : sequence of Quantity
        What is ranked.
    asked : Asked
        What intervals are about.
    raters : {"random", "fixed"}
        The raters that intervals are about.
    lower_is_better : bool
        Whether lower scores are better.
    """
    sizes = Counter(one.slice for one in chosen).values()
    if not 0 < sum(n * (n - 1) // 2 for n in sizes) <= _MOST_PAIRS:
        return {}
    those = _pairs_of(chosen, None)
    differences = _Differences.of(found, those, asked, raters, lower=lower_is_better)
    places: dict[tuple[str | None, str], Standing] = {}
    for name in dict.fromkeys(a.slice for a, _ in those):
        ranks = differences.ranks([one for one in chosen if one.slice == name])
        groups = groups_of([one.system for one in ranks], differences.better(name))
        number = {one: place for place, names in enumerate(groups, 1) for one in names}
        for one in ranks:
            places[name, one.system] = Standing(one.low, one.high, number[one.system])
    return places


def _pairs_of(
    chosen: Sequence[Quantity], pairs: Sequence[Pair] | None
) -> list[tuple[Quantity, Quantity]]:
    """Return the pairs in question, slice by slice."""
    found = []
    for name in dict.fromkeys(one.slice for one in chosen):
        inside = {one.system: one for one in chosen if one.slice == name}
        asked = combinations(inside, 2) if pairs is None else pairs
        found += [(inside[a], inside[b]) for a, b in asked if a in inside and b in inside]
    return found


def _why_none(found: PromptFit, asked: Asked, pairs: Sequence[Pair] | None) -> str:
    named = asked.systems if pairs is None else [one for pair in pairs for one in pair]
    why = [f"{one}: {found.left_out[one]}" for one in named if one in found.left_out]
    needs = "a comparison needs judgments of two systems"
    return f"{needs}; {why[0]}" if why else needs


@dataclass(frozen=True, eq=False)
class _Differences:
    """Pairs with their differences, alone and all together."""

    found: PromptFit
    pairs: Sequence[tuple[Quantity, Quantity]]
    level: float
    lower: bool
    alone: Intervals
    together: Together
    answers: Answers

    @classmethod
    def of(
        cls,
        found: PromptFit,
        pairs: Sequence[tuple[Quantity, Quantity]],
        asked: Asked,
        raters: Raters,
        *,
        lower: bool,
    ) -> "_Differences":
        forms = np.array([a.form - b.form for a, b in pairs])
        answers = found.answers(asked.target, raters)
        alone = found.intervals(answers, forms, asked.level)
        both = found.together(answers, forms, asked.level)
        return cls(found, pairs, asked.level, lower, alone, both, answers)

    def better(self, name: str | None) -> set[Pair]:
        """Return the pairs in a slice of which the first is better for sure."""
        found = set()
        for (a, b), sign in zip(self.pairs, self.together.decided, strict=True):
            if sign and a.slice == name:
                found.add(
                    (a.system, b.system) if (sign > 0) != self.lower else (b.system, a.system)
                )
        return found

    def ranks(self, inside: Sequence[Quantity]) -> tuple[Rank, ...]:
        """Return the ranks of the systems in a slice."""
        means = {one.system: float(one.form @ self.answers.mean) for one in inside}
        return ranks_of(means, self.better(inside[0].slice), lower_is_better=self.lower)

    @property
    def once(self) -> bool:
        """Whether the intervals are for one look."""
        return self.found.looks(self.answers, np.zeros((0, len(self.answers.mean)))) is None

    def more(self, margin: float | None) -> list[int | None]:
        """Return how many more judgments would decide each pair, if its difference stays as it is."""
        gap = np.abs(self.alone.estimate)
        return more_judgments(
            self.found.fit,
            self.answers,
            np.array([a.form - b.form for a, b in self.pairs]),
            reach=(self.together.high - self.together.low) / 2,
            gaps=[gap] if margin is None else [gap, margin - gap],
            judgments=[a.n_judgments + b.n_judgments for a, b in self.pairs],
            level=self.level,
        )

    def pair(self, place: int, margin: float | None, more: int | None) -> PairDifference:
        """Return one pair with its verdict, and how many judgments would decide it."""
        a, b = self.pairs[place]
        campaign, judged = self.found.fit.campaign, self.found.judged_items
        low, high = float(self.together.low[place]), float(self.together.high[place])
        difference = float(self.alone.estimate[place])
        n_judgments = a.n_judgments + b.n_judgments
        sign = int(self.together.decided[place])
        better: Literal["a", "b"] | None = None
        if sign:
            better = "a" if (sign > 0) != self.lower else "b"
        verdict = verdict_of(low, high, margin, better)
        of_a, of_b = (one.form > 0 for one in (a, b))
        both = np.minimum(judged[:, of_a].sum(axis=1), judged[:, of_b].sum(axis=1))
        same = (campaign.writers[:, of_a] > 0).any(axis=1) & (campaign.writers[:, of_b] > 0).any(1)
        both[campaign.item[same]] = 0
        return PairDifference(
            a=a.system,
            b=b.system,
            difference=difference,
            standard_error=float(self.alone.standard_error[place]),
            low=float(self.alone.low[place]),
            high=float(self.alone.high[place]),
            simultaneous_low=low,
            simultaneous_high=high,
            p_value=float(self.together.p_value[place]),
            verdict=verdict,
            n_items=int(both.sum()),
            identical_items=int(campaign.pools.identical[np.ix_(of_a, of_b)].sum()),
            n_judgments=n_judgments,
            more_judgments=more if verdict == "undecided" else 0,
            lower_is_better=self.lower,
        )


def _remarks(
    results: Sequence[PairDifference], level: float, *, paired: bool, once: bool
) -> tuple[str, ...]:
    """Return what is to be said of pairs."""
    said = [f"{one.a} and {one.b} have identical outputs" for one in results if one.identical]
    if paired:
        said.append("a paired draw shows the difference of two systems, not the mean of either")
    if once and any(one.verdict == "undecided" and one.more_judgments for one in results):
        said.append(GO_ON)
    return (*said, *step_note(results, level))


def pairs_asked(
    pair: tuple[str, str] | None,
    baseline: str | None,
    systems: Sequence[str] | None,
    *,
    margin: float | None,
    known: Sequence[str],
) -> list[Pair] | None:
    """Return the pairs in question; None for all.

    Parameters
    ----------
    pair, baseline, systems, margin
        As in `Study.compare`.
    known : sequence of str
        The systems that were judged.

    Raises
    ------
    InvalidArgumentError
        If both are given, a system is not known, or the margin is not positive.
    """
    if pair is not None and baseline is not None:
        raise InvalidArgumentError("`pair` and `baseline` exclude each other: give one of them")
    if margin is not None and not (np.isfinite(margin) and margin > 0):
        raise InvalidArgumentError(f"`margin` must be a positive number; got {margin}")
    for system in (*(pair or ()), *([baseline] if baseline is not None else [])):
        if system not in known:
            raise InvalidArgumentError(
                f"system {system!r} has no judgments; {known_names(system, known)}"
            )
    if pair is not None:
        if pair[0] == pair[1]:
            raise InvalidArgumentError(f"`pair` must name two systems; got {pair[0]!r} twice")
        return [(str(pair[0]), str(pair[1]))]
    if baseline is None:
        return None
    return [(one, baseline) for one in (systems or known) if one != baseline]
