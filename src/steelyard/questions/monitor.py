"""Are the judgments enough: the answers of estimate and compare, with intervals that hold at all looks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

import numpy as np
from scipy.special import ndtri

from steelyard.campaign.drift import drift_notes
from steelyard.campaign.part import part_of
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.model.anytime import (
    Looks,
    growth_needed,
    half_widths_later,
    looks_at,
    same_variances,
)
from steelyard.model.campaign import Floats, Ints
from steelyard.model.fit import Answers
from steelyard.questions.about import About
from steelyard.questions.asked import Asked
from steelyard.questions.compare import prompt_comparisons
from steelyard.questions.comparison import Comparison
from steelyard.questions.estimate import prompt_estimates
from steelyard.questions.estimates import Estimate
from steelyard.questions.fitted import Fits, PromptFit
from steelyard.questions.goal import Goal
from steelyard.questions.monitored import Monitored, MonitoredSystem
from steelyard.questions.pairs import PairDifference
from steelyard.questions.quantities import Quantity, quantities
from steelyard.results import ResultTable

__all__ = [
    "LookedFit",
    "Pair",
    "half_width_forecast",
    "half_width_path",
    "look_at",
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


def looked(fits: Fits, prompt: str, planned: float | None) -> LookedFit:
    """Return the model of a prompt that is looked at all the time.

    Parameters
    ----------
    fits : Fits
        The models.
    prompt : str
        The prompt.
    planned : float or None
        Judgments that are planned of each system.
    """
    one = fits.of(prompt)
    return LookedFit(one.collected, one.fit, one.slices, planned=planned)


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
            model = looked(fits, prompt, planned)
            found += look_at(
                model, asked, goal, pairs=pairs, price=price, lower=lower, notes=fits.notes
            )
        except NotEstimableError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    if refused:
        left_out = tuple(f"left out: {one}" for one in refused)
        found[0] = replace(found[0], notes=(*left_out, *found[0].notes))
    columns = ("prompt", "slice", "reached", "answer", "n_judgments", "more_judgments")
    return ResultTable(found, columns=columns)


def half_width_path(
    found: LookedFit, asked: Asked, order: Sequence[int], *, points: int = 12
) -> dict[str, list[tuple[int, float]]]:
    """Return judged outputs and half-width of each system, as they were on the way here.

    Parameters
    ----------
    found : LookedFit
        The model now.
    asked : Asked
        What intervals are about.
    order : sequence of int
        The judgments in the order in which they came.
    points : int
        How many looks to show.
    """
    campaign, mode = found.fit.campaign, found.raters(asked.raters)[0]
    path: dict[str, list[tuple[int, float]]] = {one: [] for one in campaign.systems}
    forms = np.eye(campaign.k)
    for n in np.unique(np.linspace(0, campaign.n, points + 1).astype(int))[1:]:
        part = part_of(campaign, np.sort(np.asarray(order)[:n]))
        near = same_variances(found.fit, part)
        if near is None:
            continue
        judged = (part.writers > 0).sum(axis=0)
        times = (part.writers[part.output] > 0).sum(axis=0)
        known = replace(found.collected, campaign=part, n_outputs=judged, n_judgments=times)
        then = LookedFit(known, near, found.slices, planned=found.planned)
        shown = then.intervals(then.answers(asked.target, mode), forms, asked.level)
        half = (shown.high - shown.low) / 2
        for place, system in enumerate(campaign.systems):
            if judged[place] > 1:
                path[system].append((int(judged[place]), float(half[place])))
    return path


def half_width_forecast(
    found: LookedFit, asked: Asked, one: MonitoredSystem, goal: float
) -> list[tuple[int, float]]:
    """Return judged outputs and half-width of a system on the way to a goal; empty if it is out of sight.

    Parameters
    ----------
    found : LookedFit
        The model now.
    asked : Asked
        What intervals are about.
    one : MonitoredSystem
        The system.
    goal : float
        The half-width to reach.
    """
    if one.half_width is None or one.half_width <= goal or not one.more_judgments:
        return []
    growth = np.geomspace(1.0, 1 + one.more_judgments / max(one.n_judgments, 1), 12)
    place = found.systems.index(one.system)
    half = half_widths_later(
        found.fit,
        found.answers(asked.target, found.raters(asked.raters)[0]),
        np.eye(len(found.systems))[[place]],
        share=found.share,
        now=np.array([one.half_width]),
        once=float(ndtri((1 + asked.level) / 2)),
        growth=growth,
    )
    outputs = np.ceil(growth * one.n_outputs).astype(int)
    return [(int(n), float(width)) for n, width in zip(outputs, half[:, 0], strict=True)]


def look_at(
    found: PromptFit,
    asked: Asked,
    goal: Goal,
    *,
    lower: bool,
    pairs: Sequence[Pair] | None = None,
    price: float | None = None,
    notes: Sequence[str] = (),
) -> list[Monitored]:
    """Return what is known under one prompt, slice by slice.

    Parameters
    ----------
    found : PromptFit
        The model: a `LookedFit`, or one that is looked at once.
    asked, goal, pairs, price
        As in `monitored`.
    lower : bool
        Whether lower scores are better.
    notes : sequence of str
        What must be said of all prompts.
    """
    return _Look.of(found, asked, goal, pairs, price, lower=lower).results(notes)


@dataclass(frozen=True, eq=False)
class _Look:
    """What estimate and compare say at one look."""

    found: PromptFit
    asked: Asked
    goal: Goal
    price: float | None
    quantities: Sequence[Quantity]
    estimates: Mapping[tuple[str | None, str], Estimate]
    comparisons: Sequence[Comparison]
    notes: tuple[str, ...]
    lower: bool

    @classmethod
    def of(
        cls,
        found: PromptFit,
        asked: Asked,
        goal: Goal,
        pairs: Sequence[Pair] | None,
        price: float | None,
        *,
        lower: bool,
    ) -> "_Look":
        means: Sequence[Estimate] = ()
        notes: tuple[str, ...] = ()
        comparisons: Sequence[Comparison] = ()
        is_preference = found.fit.campaign.other is not None
        if not (is_preference or found.collected.paired):
            means, left_out, said = prompt_estimates(found, asked, lower_is_better=lower)
            notes = (*(f"{one} is left out: {why}" for one, why in left_out.items()), *said)
        try:
            comparisons = prompt_comparisons(
                found, asked, pairs, margin=goal.margin, lower_is_better=lower
            )
        except NotEstimableError:
            if not means or goal.decide is not None or goal.gate is not None:
                raise
        chosen, _ = quantities(found, asked.systems)
        each = {(one.slice, one.system): one for one in means}
        return cls(found, asked, goal, price, chosen, each, comparisons, notes, lower)

    @property
    def _looked(self) -> LookedFit | None:
        """The model, where it is looked at all the time."""
        return self.found if isinstance(self.found, LookedFit) else None

    def results(self, notes: Sequence[str]) -> list[Monitored]:
        """Return what is known, slice by slice."""
        names = dict.fromkeys(one.slice for one in self.quantities)
        return [self._result(name, notes) for name in names]

    def _result(self, name: str | None, notes: Sequence[str]) -> Monitored:
        own = [one for one in self.quantities if one.slice == name]
        compared = next((one for one in self.comparisons if one.slice == name), None)
        pairs = () if compared is None else compared.pairs
        order = [one.system for one in (() if compared is None else compared.ranks)]
        order += [one.system for one in own if one.system not in order]
        beaten = self._beaten(own)
        asked_for = self.goal.open_pairs(order, pairs, self.asked.level, beaten)
        more = self._more(own, asked_for)
        shown_pairs = tuple(self._pair(one, asked_for, more) for one in pairs)
        by_name = {one.system: one for one in own}
        systems = tuple(self._system(by_name[one], compared, more.get(one, 0)) for one in order)
        reached = self.goal.given and all(one.enough for one in systems)
        needed = [one.more_judgments for one in systems]
        left = None if None in needed else sum(one for one in needed if one is not None)
        shown = next(iter(self.estimates.values()), None)
        mode, _ = self.found.raters(self.asked.raters)
        about = About.of(self.asked.target, mode, part=name)
        said = (*self.notes, *(() if compared is None else compared.notes))
        each = (f"{one.system}: {note}" for one in own for note in one.notes)
        drift = drift_notes(self.found.collected.rows, self.found.fit)
        return Monitored(
            prompt=self.found.prompt,
            slice=name,
            goal=str(self.goal),
            reached=reached,
            level=self.asked.level,
            about=about,
            planned=None if self._looked is None else self._looked.planned,
            metrics=self.found.fit.campaign.metrics if shown is None else shown.metrics,
            answer=self._answer(compared, shown_pairs, order, beaten),
            systems=systems,
            pairs=shown_pairs,
            n_judgments=self.found.fit.campaign.n,
            more_judgments=left if self.goal.given else None,
            left_to_pay=None if self.price is None or left is None else left * self.price,
            notes=tuple(dict.fromkeys((*notes, *said, *each, *drift))),
        )

    def _answer(
        self,
        compared: Comparison | None,
        pairs: tuple[PairDifference, ...],
        order: Sequence[str],
        beaten: set[str],
    ) -> str:
        """Return what is known in one sentence; who is best can be known before all pairs are."""
        left = [one for one in order if one not in beaten]
        if self.goal.decide == "best" and len(left) == 1 < len(order):
            return f"{left[0]} is the best."
        return "" if compared is None else replace(compared, pairs=pairs).sentence

    def _system(
        self, one: Quantity, compared: Comparison | None, more: int | None
    ) -> MonitoredSystem:
        mean = self.estimates.get((one.slice, one.system))
        ranks = () if compared is None else compared.ranks
        rank = next((each for each in ranks if each.system == one.system), None)
        return MonitoredSystem(
            system=one.system,
            estimate=None if mean is None else mean.estimate,
            standard_error=None if mean is None else mean.standard_error,
            low=None if mean is None else mean.low,
            high=None if mean is None else mean.high,
            rank_low=None if rank is None else rank.low,
            rank_high=None if rank is None else rank.high,
            n_outputs=one.n_outputs,
            n_judgments=one.n_judgments,
            pool_size=one.pool_size,
            enough=self.goal.given and more == 0,
            more_judgments=more,
        )

    def _pair(
        self,
        pair: PairDifference,
        asked_for: Sequence[PairDifference],
        more: Mapping[str, int | None],
    ) -> PairDifference:
        """Return a pair with the judgments that the goal needs of the two; None if it needs no verdict."""
        if pair.verdict != "undecided":
            return pair
        both = [more.get(one) for one in (pair.a, pair.b)] if pair in asked_for else [None]
        known = [one for one in both if one is not None]
        return replace(pair, more_judgments=sum(known) if len(known) == len(both) else None)

    @cached_property
    def _answers(self) -> Answers:
        return self.found.answers(self.asked.target, self.found.raters(self.asked.raters)[0])

    def _beaten(self, own: Sequence[Quantity]) -> set[str]:
        """Return the systems that are known not to be the best.

        A system is out where another one is better, one-sided and with all of its own differences together
        (Gupta 1965, Hsu 1984): only of the best can that be false, so nothing more is paid for many systems.
        Those that are out count no more: the others are compared among themselves until nobody else goes.
        """
        if self.goal.decide != "best":
            return set()
        forms = np.array([one.form for one in own])
        means, error = forms @ self._answers.mean, forms @ self._answers.covariance @ forms.T
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
                return {one.system for one, there in zip(own, inside, strict=True) if not there}
            inside[out] = False

    def _ahead_of(self, one: Quantity, others: Sequence[Quantity]) -> Ints:
        """Return 1 for each system that is known to be better than one, and -1 for worse ones."""
        forms = np.array([other.form - one.form for other in others if other is not one])
        found = self.found.together(self._answers, forms, self._one_sided).decided
        return -found if self.lower else found

    @property
    def _one_sided(self) -> float:
        """The level of intervals of which one end alone has the level that was asked for."""
        return max(2 * self.asked.level - 1, 0.01)

    def _more(
        self, own: Sequence[Quantity], open_pairs: Sequence[PairDifference]
    ) -> dict[str, int | None]:
        """Return how many more judgments each system needs: 0 for enough, None where nobody can say."""
        goal, level = self.goal, self.asked.level
        by_name = {one.system: one for one in own}
        wanted: list[tuple[tuple[str, ...], Floats, float, float]] = []
        if goal.half_width is not None:
            for one in own:
                mean = self.estimates.get((one.slice, one.system))
                half = math.inf if mean is None else mean.half_width
                if half > goal.half_width:
                    wanted.append(((one.system,), one.form, half, goal.half_width))
        once = level
        forms = np.array([by_name[one.a].form - by_name[one.b].form for one in open_pairs])
        halves = [(one.simultaneous_high - one.simultaneous_low) / 2 for one in open_pairs]
        if goal.decide == "best" and open_pairs:
            once = self._one_sided
            told = self.found.together(self._answers, forms, once)
            halves = ((told.high - told.low) / 2).tolist()
        for pair, form, half in zip(open_pairs, forms, halves, strict=True):
            aim = goal.gap(pair, level)
            wanted.append(
                ((pair.a, pair.b), form, half, abs(pair.difference) if aim is None else aim)
            )
        if not wanted:
            return {} if goal.given else dict.fromkeys(by_name)
        growth = growth_needed(
            self.found.fit,
            self._answers,
            np.array([form for _, form, _, _ in wanted]),
            share=None if self._looked is None else self._looked.share,
            now=np.array([half for _, _, half, _ in wanted]),
            aim=np.array([aim for _, _, _, aim in wanted]),
            once=float(ndtri((1 + once) / 2)),
        )
        most: dict[str, float] = {}
        for (names, *_), times in zip(wanted, growth, strict=True):
            for name in names:
                most[name] = max(most.get(name, 1.0), float(times))
        return {
            one: None
            if math.isinf(times)
            else max(math.ceil((times - 1) * by_name[one].n_judgments), 1)
            for one, times in most.items()
        }
