"""How many more judgments, of what, and what they cost: from a pilot, or from typed variances."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Literal

import numpy as np

from steelyard.campaign.unjudged import others_judged
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.model.campaign import Floats
from steelyard.model.designed import answers_of
from steelyard.model.intervals import intervals
from steelyard.names import known_names
from steelyard.questions.about import Raters, Target, View, view_of
from steelyard.questions.cheapest import planned
from steelyard.questions.fitted import Fits, PromptFit
from steelyard.questions.planned import Plan
from steelyard.questions.precision import Precision
from steelyard.questions.prospect import Further, Prospect
from steelyard.questions.typed import typed_prospect

__all__ = ["PlanAsked", "PlanFor", "pilot_plan", "plan"]

PlanFor = Literal["means", "pairs", "order"]

# Outputs of a system after which two orders of the items are compared.
_LOOK = 100
_JUDGED_FIRST = (
    "counts on items first that other systems were judged on, as `steelyard sample OUTPUTS --after JUDGMENTS` "
    "draws them: there the systems' common part is known"
)


@dataclass(frozen=True, kw_only=True)
class PlanAsked:
    """What a plan is asked for: exactly one of a half-width, a difference and a budget, or the order of systems.

    Attributes
    ----------
    half_width : float or None
        How far intervals may reach to either side.
    difference : float or None
        A difference to be shown, instead.
    budget : float or None
        What may be spent, instead.
    order : bool
        Whether the order of all systems is the goal.
    assurance : float
        The probability of reaching the goal, and of showing the difference.
    judgment_price : float
        Of a judgment.
    n_raters : int or None
        Raters of the further judgments; those of before by default.
    level : float
        Confidence level.
    """

    half_width: float | None = None
    difference: float | None = None
    budget: float | None = None
    order: bool = False
    assurance: float = 0.8
    judgment_price: float = 1.0
    n_raters: int | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("half_width", "difference", "budget", "judgment_price"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InvalidArgumentError(f"`{name}` must be a positive number; got {value:g}")
        for name in ("assurance", "level"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise InvalidArgumentError(f"`{name}` must lie between 0 and 1; got {value:g}")
        if self.n_raters is not None and self.n_raters < 2:
            raise InvalidArgumentError(f"`n_raters` must be 2 or more; got {self.n_raters}")
        goals = sum(one is not None for one in (self.half_width, self.difference, self.budget))
        if goals + self.order != 1:
            raise InvalidArgumentError(
                "a plan needs exactly one of `--half-width`, `--budget`, `--difference` and `--what order`"
            )

    def goal(self, name: str, forms: Floats, *, together: bool = False) -> Precision:
        """Return the goal for some forms of the means."""
        if self.half_width is not None:
            words = f"{name} known to ±{self.half_width:g}"
        elif self.difference is not None:
            words = (
                f"{name}: a difference of {self.difference:g} shown with power {self.assurance:g}"
            )
        else:
            words = f"{name} as well as {self.budget:g} pays for"
        limit = self.half_width or self.difference or 1.0
        power = self.assurance if self.difference is not None else None
        return Precision(words, forms, limit, self.level, together=together, power=power)

    def plan(
        self, prospect: Prospect, goal: Precision, *, systems: Sequence[int] | None = None
    ) -> Plan:
        """Return the plan."""
        return planned(
            prospect,
            goal,
            budget=self.budget,
            judgment_price=self.judgment_price,
            assurance=self.assurance,
            raters=self.n_raters,
            systems=systems,
        )


def plan(
    item_variance: float,
    rater_variance: float,
    correlation: float = 0.0,
    *,
    leniency: float = 0.0,
    pool_size: int | None = None,
    half_width: float | None = None,
    difference: float | None = None,
    budget: float | None = None,
    assurance: float = 0.8,
    judgment_price: float = 1.0,
    n_raters: int | None = None,
    level: float = 0.95,
) -> Plan:
    """Plan how many outputs to judge of one system, or of two that are compared, from variances.

    Parameters
    ----------
    item_variance, rater_variance : float
        Variance of human scores between outputs, and of the judgments of one output but for leniency. With a
        `difference`, those of differences.
    correlation, leniency : float
        Correlation of the metric with human scores; variance between raters, which needs `n_raters`.
    pool_size : int, optional
        Outputs of each system; without it the plan is about new outputs.
    half_width, difference, budget, assurance, judgment_price, n_raters, level
        As in `Study.plan`.

    Returns
    -------
    Plan

    Examples
    --------
    >>> found = plan(0.15, 0.3, 0.5, half_width=0.1)
    >>> found.expected.judgments, found.expected.judgments == found.assured.judgments
    (166, False)
    """
    asked = PlanAsked(
        half_width=half_width,
        difference=difference,
        budget=budget,
        assurance=assurance,
        judgment_price=judgment_price,
        n_raters=n_raters,
        level=level,
    )
    # a difference has the variances of its two halves
    k = 1 if difference is None else 2
    prospect = typed_prospect(
        item_variance / k,
        rater_variance / k,
        correlation,
        leniency=leniency,
        raters=n_raters,
        systems=k,
        pool_size=pool_size,
    )
    name, form = ("the mean", [1.0]) if k == 1 else ("the difference", [1.0, -1.0])
    return asked.plan(prospect, asked.goal(name, np.array([form])))


def pilot_plan(
    fits: Fits,
    prompt: str,
    asked: PlanAsked,
    *,
    systems: Sequence[str] | None = None,
    pair: tuple[str, str] | None = None,
    what: PlanFor = "means",
    judge: Sequence[str] | None = None,
    target: Target = "pool",
    raters: Raters | None = None,
) -> Plan:
    """Plan further judgments under a prompt; see `Study.plan`."""
    if pair is not None and (systems is not None or what != "means"):
        raise InvalidArgumentError(
            "`pair` names its two systems: leave out `systems` (--system) and `what`"
        )
    found = fits.of(prompt)
    if found.collected.campaign.other is not None:
        raise NotEstimableError(
            f"prompt {prompt!r} asks which of two outputs is better: plans are of scores"
        )
    pool = fits.source.outputs.systems
    named = list(pair or systems or found.systems)
    for one in (*named, *(judge or ())):
        if one not in pool:
            raise InvalidArgumentError(
                f"system {one!r} is not in {fits.source.outputs.name}; {known_names(one, pool)}"
            )
    mode, notes = found.raters(raters)
    getting = list(judge or named)

    def ahead(*, judged_first: bool) -> tuple[Prospect, Precision]:
        prospect = Prospect.of(
            fits,
            prompt,
            getting,
            about=view_of(target, mode),
            judged_first=judged_first,
            differing=pair is not None and set(getting) == set(pair),
        )
        place = {one: number for number, one in enumerate(prospect.campaign.systems)}
        asks = [place[one] for one in named]
        goal = _goal(found, prospect, asks, asked, what=what, pair=pair)
        return prospect, _shaped(goal, found, prospect, view_of(target, mode))

    prospect, goal = ahead(judged_first=False)
    if others_judged(fits.source, prompt, getting):
        other = ahead(judged_first=True)
        further = Further(min(_LOOK, prospect.left))
        if other[1].reach(other[0].after(further)) < goal.reach(prospect.after(further)):
            prospect, goal = other
            notes = (*notes, _JUDGED_FIRST)
    asks = [prospect.campaign.systems.index(one) for one in getting]
    made = asked.plan(prospect, goal, systems=asks)
    return replace(made, notes=(*made.notes, *notes))


def _goal(
    found: PromptFit,
    prospect: Prospect,
    systems: Sequence[int],
    asked: PlanAsked,
    *,
    what: PlanFor,
    pair: tuple[str, str] | None,
) -> Precision:
    """Return the goal for some systems of the campaign."""
    means = np.eye(prospect.campaign.k)[list(systems)]
    if pair is not None:
        forms = means[:1] - means[1:]
        return asked.goal(f"{pair[0]} - {pair[1]}", forms)
    if what == "means" and asked.difference is None:
        name = "the mean of each system" if len(means) > 1 else "the mean"
        return asked.goal(name, means)
    if len(means) < 2:
        raise InvalidArgumentError("a difference needs two systems; got one")
    pairs = np.array([a - b for a, b in combinations(means, 2)])
    if what != "order":
        return asked.goal("all differences", pairs, together=True)
    return _order(found, prospect, means, asked.level)


def _shaped(goal: Precision, found: PromptFit, prospect: Prospect, about: View) -> Precision:
    """Return the goal for intervals of the shape that they have now, where all systems were judged."""
    known = {one: number for number, one in enumerate(found.systems)}
    asked = np.flatnonzero(np.abs(goal.forms).max(axis=0) > 0)
    if any(prospect.campaign.systems[one] not in known for one in asked):
        return goal
    forms = np.zeros((len(goal.forms), len(known)))
    for one in asked:
        forms[:, known[prospect.campaign.systems[one]]] = goal.forms[:, one]
    shown = intervals(found.fit, answers_of(found.fit, about), forms, goal.level)
    return goal.shaped(prospect.after(Further(0)), shown)


def _order(found: PromptFit, prospect: Prospect, means: Floats, level: float) -> Precision:
    """Return the goal to tell each system from the next, if the differences stay as they are."""
    estimated = found.answers("pool", "random").mean
    known = dict(zip(found.systems, estimated, strict=True))
    lacking = [one for one in prospect.campaign.systems if one not in known]
    if lacking:
        raise NotEstimableError(f"system {lacking[0]} has no judgments: its place is not known")
    values = means @ np.array([known[one] for one in prospect.campaign.systems])
    order = np.argsort(-values)
    rows = [(order[a], order[b]) for a, b in pairwise(range(len(order)))]
    forms = np.array([means[a] - means[b] for a, b in rows])
    gaps = np.array([values[a] - values[b] for a, b in rows])
    if gaps.min() <= 0:
        raise NotEstimableError("two systems have equal estimates: no order can be planned")
    return Precision(
        "the order of all systems, if differences stay as they are", forms, gaps, level, True
    )
