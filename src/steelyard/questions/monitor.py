"""Are the judgments enough: the answers of estimate and compare, with intervals that hold at all looks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

import numpy as np
from scipy.special import ndtri

from steelyard.campaign.drift import drift_notes
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.model.anytime import (
    Looks,
    growth_needed,
    looks_at,
)
from steelyard.model.campaign import Floats, Ints
from steelyard.model.fit import Answers
from steelyard.model.intervals import Intervals
from steelyard.model.threads import one_thread
from steelyard.questions.about import About
from steelyard.questions.asked import Asked
from steelyard.questions.compare import prompt_comparisons
from steelyard.questions.comparison import Comparison
from steelyard.questions.fitted import Fits, PromptFit
from steelyard.questions.goal import Goal
from steelyard.questions.monitored import Monitored, MonitoredSystem
from steelyard.questions.pairs import PairDifference
from steelyard.questions.preferences import preference_comparison
from steelyard.questions.quantities import Quantity, quantities
from steelyard.results import ResultTable

__all__ = [
    "Look",
    "LookedFit",
    "Pair",
    "looked",
    "monitored",
]

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class LookedFit(PromptFit):
    """The model of a prompt under which judgments still come in, and are looked at all the time.

    Attributes
    ----------
    planned : float or None
        Judgments that are planned of each system.
    """

    planned: float | None = None

    @cached_property
    def share(self) -> Floats | None:
        """Judgments of each system over those that are planned, (k,); None without a plan."""
        if self.planned is None:
            return None
        number = np.asarray(self.collected.n_judgments, dtype=np.float64)
        family = self.fit.campaign.family
        if family is not None:
            number = np.bincount(family, number).astype(np.float64)[family]
        return np.maximum(number, 1.0) / self.planned

    def looks(self, answers: Answers, forms: Floats) -> Looks:
        """Return how far along forms of the means are."""
        return looks_at(self.fit, answers, forms, self.share)

    def pair_looks(self, worth: Floats, pairs: Sequence[tuple[int, int]]) -> Looks:
        """Return how far along preferences between pairs are; a pair is as far as its system that is less so."""
        if self.share is None:
            return Looks(np.zeros(len(worth)), worth)
        return Looks(self.share[np.array(pairs, dtype=np.int64)].min(axis=1), worth)


def looked(found: PromptFit, planned: float | None) -> LookedFit:
    """Return the model of a prompt as one that is looked at all the time.

    Parameters
    ----------
    found : PromptFit
        The model.
    planned : float or None
        Judgments that are planned of each system.
    """
    return LookedFit(found.collected, found.fit, found.slices, planned=planned)


@one_thread()
def monitored(
    fits: Fits,
    asked: Asked,
    goal: Goal,
    *,
    planned: float | None = None,
    pairs: Sequence[Pair] | None = None,
    price: float | None = None,
) -> ResultTable[Monitored]:
    """Return what is known under each prompt, slice by slice; see `Study.monitor`.

    Parameters
    ----------
    fits : Fits
        The models.
    asked : Asked
        The prompts and systems in question.
    goal : Goal
        What is to be known.
    planned : float, optional
        Judgments that are planned of each system.
    pairs : sequence of (str, str), optional
        The pairs in question; all by default.
    price : float, optional
        Of a judgment.

    Raises
    ------
    InvalidArgumentError
        If fewer than two judgments are planned.
    NotEstimableError
        If nothing is known under any prompt.
    """
    if planned is not None and not 1 < planned < math.inf:
        raise InvalidArgumentError(f"`planned` must be 2 or more; got {planned:g}")
    found: list[Monitored] = []
    refused: list[NotEstimableError] = []
    for prompt in asked.prompts:
        lower = prompt in fits.source.judgments.lower_is_better
        try:
            look = Look(looked(fits.of(prompt), planned), asked, goal, lower, pairs)
            found += look.results(price, fits.notes)
        except NotEstimableError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    if refused:
        left_out = tuple(f"left out: {one}" for one in refused)
        found[0] = replace(found[0], notes=(*left_out, *found[0].notes))
    columns = ("prompt", "slice", "reached", "answer", "n_judgments", "more_judgments")
    return ResultTable(found, columns=columns)


@dataclass(frozen=True, eq=False)
class Look:
    """What estimate and compare say at one look, worked out as far as it is asked for.

    Attributes
    ----------
    found : PromptFit
        The model: a `LookedFit`, or one that is looked at once.
    asked, goal
        As in `monitored`.
    lower : bool
        Whether lower scores are better.
    only : sequence of (str, str) or None
        The pairs in question; all by default.
    """

    found: PromptFit
    asked: Asked
    goal: Goal
    lower: bool = False
    only: Sequence[Pair] | None = None

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The means in question, and those of the pairs in question, slice by slice."""
        of_pairs = (one for pair in self.only or () for one in pair)
        return quantities(self.found, tuple(dict.fromkeys((*self.asked.systems, *of_pairs))))[0]

    @cached_property
    def answers(self) -> Answers:
        """The means of all systems, with their errors."""
        return self.found.answers(self.asked.target, self.found.raters(self.asked.raters)[0])

    @cached_property
    def means(self) -> Intervals | None:
        """The means in question with their intervals; None where only differences are known."""
        is_preference = self.found.fit.campaign.other is not None
        if is_preference or self.found.collected.paired or not self.quantities:
            return None
        forms = np.array([one.form for one in self.quantities])
        return self.found.intervals(self.answers, forms, self.asked.level)

    @cached_property
    def comparisons(self) -> Mapping[str | None, Comparison]:
        """The comparison of each slice."""
        if self.found.fit.campaign.other is not None:
            margin = self.goal.margin
            return {None: preference_comparison(self.found, self.asked, self.only, margin=margin)}
        try:
            found = prompt_comparisons(
                self.found,
                self.asked,
                self.only,
                margin=self.goal.margin,
                lower_is_better=self.lower,
            )
        except NotEstimableError:
            if self.means is None or self.goal.decide is not None or self.goal.gate is not None:
                raise
            return {}
        return {one.slice: one for one in found}

    def pairs(self, name: str | None) -> tuple[PairDifference, ...]:
        """Return the differences in a slice."""
        return self.comparisons[name].pairs if name in self.comparisons else ()

    @cached_property
    def inside(self) -> dict[str | None, dict[str, Quantity]]:
        """The means of each slice by system, the best estimate first."""
        sign, mean = 1 if self.lower else -1, self.answers.mean
        order = sorted(
            self.quantities,
            key=lambda one: (math.isnan(one.form @ mean), sign * float(one.form @ mean)),
        )
        names = dict.fromkeys(one.slice for one in self.quantities)
        return {name: {one.system: one for one in order if one.slice == name} for name in names}

    def too_wide(self, name: str | None) -> dict[str, float]:
        """Return the half-width of each mean of a slice that is wider than the goal."""
        aim, shown = self.goal.half_width, self.means
        if aim is None:
            return {}
        half = np.inf if shown is None else (shown.high - shown.low) / 2
        each = zip(self.quantities, np.broadcast_to(half, len(self.quantities)), strict=True)
        return {one.system: float(h) for one, h in each if one.slice == name and h > aim}

    def open_pairs(self, name: str | None) -> list[PairDifference]:
        """Return the pairs of a slice that still must be judged."""
        goal, left = self.goal, self.left[name]
        if (goal.decide is None and goal.gate is None) or (goal.decide == "best" and len(left) < 2):
            return []
        return goal.open_pairs(left, self.pairs(name), self.asked.level)

    def needing(self, name: str | None) -> set[str]:
        """Return the systems of which the goal needs more judgments."""
        if self.goal.decide == "best" and self.goal.margin is None:
            left = self.left[name]
            return set(left) if len(left) > 1 else set()
        open_pairs = self.open_pairs(name)
        return {*self.too_wide(name), *(one for pair in open_pairs for one in (pair.a, pair.b))}

    @cached_property
    def left(self) -> dict[str | None, list[str]]:
        """The systems of each slice that may be the best, where that is the goal; all otherwise."""
        if self.goal.decide != "best":
            return {name: list(own) for name, own in self.inside.items()}
        return {name: self._unbeaten(list(own.values())) for name, own in self.inside.items()}

    def _unbeaten(self, own: Sequence[Quantity]) -> list[str]:
        """Return the systems that are not known to be worse than another.

        A system is out where another one is better, one-sided and with all of its own differences together
        (Gupta 1965, Hsu 1984): only of the best can that be false, so nothing more is paid for many systems.
        Those that are out count no more: the others are compared among themselves until nobody else goes.
        """
        forms = np.array([one.form for one in own])
        means, error = forms @ self.answers.mean, forms @ self.answers.covariance @ forms.T
        variance = np.diag(error) + np.diag(error)[:, np.newaxis] - 2 * error
        ahead = (means - means[:, np.newaxis]) * (-1 if self.lower else 1)
        # nobody is out who is not behind somebody by what one look at two systems asks for
        behind = ahead > ndtri(self.asked.level) * np.sqrt(np.maximum(variance, 0.0))
        inside = np.isfinite(means)
        while True:
            out = [
                place
                for place in np.flatnonzero((behind & inside).any(axis=1) & inside).tolist()
                if (self._ahead_of(own[place], list(compress(own, inside))) > 0).any()
            ]
            if not out:
                return [one.system for one, there in zip(own, inside, strict=True) if there]
            inside[out] = False

    def _ahead_of(self, one: Quantity, others: Sequence[Quantity]) -> Ints:
        """Return 1 for each system that is known to be better than one, and -1 for worse ones."""
        forms = np.array([other.form - one.form for other in others if other is not one])
        found = self.found.together(self.answers, forms, self._one_sided).decided
        return -found if self.lower else found

    @property
    def _one_sided(self) -> float:
        """The level of intervals of which one end alone has the level that was asked for."""
        return max(2 * self.asked.level - 1, 0.01)

    def more(self, name: str | None) -> dict[str, int | None]:
        """Return how many more judgments each system needs that needs any; None where nobody can say."""
        inside, level = self.inside[name], self.asked.level
        wide, open_pairs = self.too_wide(name), self.open_pairs(name)
        if not self.goal.given:
            return dict.fromkeys(inside)
        if not wide and not open_pairs:
            return {}
        forms = [inside[one].form for one in wide]
        forms += [inside[one.a].form - inside[one.b].form for one in open_pairs]
        now = [*wide.values()]
        once = level
        if self.goal.decide == "best":
            once = self._one_sided
            told = self.found.together(self.answers, np.array(forms), once)
            now += ((told.high - told.low) / 2).tolist()
        else:
            now += [(one.simultaneous_high - one.simultaneous_low) / 2 for one in open_pairs]
        aims = [self.goal.half_width or 0.0 for _ in wide]
        aims += [self.goal.gap(one, level) for one in open_pairs]
        growth = growth_needed(
            self.found.fit,
            self.answers,
            np.array(forms),
            share=self.found.share if isinstance(self.found, LookedFit) else None,
            now=np.array(now),
            aim=np.array(aims),
            once=float(ndtri((1 + once) / 2)),
        )
        most: dict[str, float] = {}
        about = [*((one,) for one in wide), *((one.a, one.b) for one in open_pairs)]
        for names, times in zip(about, growth.tolist(), strict=True):
            for one in names:
                most[one] = max(most.get(one, 1.0), times)
        return {
            one: None
            if math.isinf(times)
            else max(math.ceil((times - 1) * inside[one].n_judgments), 1)
            for one, times in most.items()
        }

    def results(self, price: float | None, notes: Sequence[str]) -> list[Monitored]:
        """Return what is known as it is shown, slice by slice."""
        if not self.quantities:
            raise NotEstimableError(f"prompt {self.found.prompt!r}: no system has an answer")
        return [self._result(name, price, notes) for name in self.inside]

    def _result(self, name: str | None, price: float | None, notes: Sequence[str]) -> Monitored:
        compared, inside, more = self.comparisons.get(name), self.inside[name], self.more(name)
        asked_for = {(one.a, one.b) for one in self.open_pairs(name)}
        pairs = tuple(self._pair(one, asked_for, more) for one in self.pairs(name))
        systems = tuple(self._system(one, more.get(one.system, 0)) for one in inside.values())
        needed = [one.more_judgments for one in systems]
        total = None if None in needed else sum(one for one in needed if one is not None)
        mode, remarks = self.found.raters(self.asked.raters)
        known = self.found.collected
        said = [
            f"{one} is left out: {self.found.left_out[one]}"
            for one in self.asked.systems
            if one in self.found.left_out
        ]
        said += [*known.notes, *remarks, *quantities(self.found, self.asked.systems)[1]]
        said += () if compared is None else compared.notes
        said += [f"{one.system}: {note}" for one in inside.values() for note in one.notes]
        return Monitored(
            prompt=self.found.prompt,
            slice=name,
            goal=str(self.goal),
            reached=self.goal.given and all(one.enough for one in systems),
            level=self.asked.level,
            about=About.of(self.asked.target, mode, part=name),
            planned=self.found.planned if isinstance(self.found, LookedFit) else None,
            metrics=self.found.fit.campaign.metrics,
            answer=self._answer(name, pairs),
            systems=systems,
            pairs=pairs,
            n_judgments=self.found.fit.campaign.n,
            more_judgments=total if self.goal.given else None,
            left_to_pay=None if price is None or total is None else total * price,
            notes=tuple(dict.fromkeys((*notes, *said, *drift_notes(known.rows, self.found.fit)))),
        )

    def _answer(self, name: str | None, pairs: tuple[PairDifference, ...]) -> str:
        """Return what is known in one sentence; who is best can be known before all pairs are."""
        left, compared = self.left[name], self.comparisons.get(name)
        if self.goal.decide == "best" and len(left) == 1 < len(self.inside[name]):
            return f"{left[0]} is the best."
        return "" if compared is None else replace(compared, pairs=pairs).sentence

    def _system(self, one: Quantity, more: int | None) -> MonitoredSystem:
        compared, shown, place = self.comparisons.get(one.slice), self.means, 0
        ranks = () if compared is None else compared.ranks
        rank = next((each for each in ranks if each.system == one.system), None)
        if shown is not None:
            place = next(at for at, each in enumerate(self.quantities) if each is one)
        return MonitoredSystem(
            system=one.system,
            estimate=None if shown is None else float(shown.estimate[place]),
            standard_error=None if shown is None else float(shown.standard_error[place]),
            low=None if shown is None else float(shown.low[place]),
            high=None if shown is None else float(shown.high[place]),
            rank_low=None if rank is None else rank.low,
            rank_high=None if rank is None else rank.high,
            n_outputs=one.n_outputs,
            n_judgments=one.n_judgments,
            pool_size=one.pool_size,
            enough=self.goal.given and more == 0,
            more_judgments=more,
        )

    def _pair(
        self, pair: PairDifference, asked_for: set[Pair], more: Mapping[str, int | None]
    ) -> PairDifference:
        """Return a pair with the judgments that the goal needs of the two; None if it needs no verdict."""
        if pair.verdict != "undecided":
            return pair
        both = [more.get(one) for one in (pair.a, pair.b)] if (pair.a, pair.b) in asked_for else []
        known = [one for one in both if one is not None]
        return replace(pair, more_judgments=sum(known) if len(known) == 2 else None)
