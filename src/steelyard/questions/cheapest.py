"""The cheapest further judgments that reach a goal, and the best ones that a budget pays."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from steelyard.errors import NotEstimableError
from steelyard.questions.goals import Goal
from steelyard.questions.plans import Case, Plan, Prices, Spending
from steelyard.questions.prospect import Further, Prospect

__all__ = ["planned"]

# Judgments of an output that are tried where outputs cost, and where all outputs are judged.
_EACH = (1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0)
_AGAIN = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
_MOST_EACH = _AGAIN[-1]
_MORE_RATERS = (1, 2, 4, 8, 16, 32)
_STEPS = 10
# Ways to spend are compared that cost as many judgments, within this share; systems are taken one by one up to so many.
_ALIKE, _FEW = 0.2, 4
# A search ends where the goal is reached by no more than this leaves.
_NEAR = 0.985


def planned(
    prospect: Prospect,
    goal: Goal,
    *,
    budget: float | None = None,
    prices: Prices | None = None,
    assurance: float = 0.8,
    each: float | None = None,
    raters: int | None = None,
    systems: Sequence[int] | None = None,
    most: int | None = None,
) -> Plan:
    """Return the cheapest further judgments for a goal, or the best for a budget.

    Parameters
    ----------
    prospect : Prospect
        The campaign so far, and what may be judged next.
    goal : Goal
        What is to be reached.
    budget : float, optional
        What may be spent, instead of the limit of `goal`.
    prices : Prices, optional
        What outputs and judgments cost.
    assurance : float
        The probability of reaching the goal.
    each : float, optional
        Judgments of every output; chosen by default.
    raters : int, optional
        Raters who make the judgments; those of before by default.
    systems : sequence of int, optional
        The systems that get judgments; all that may by default.
    most : int, optional
        Outputs of a system at most; all that are left by default.
    """
    search = _Search(
        prospect,
        goal,
        prices or Prices(),
        Further(0, raters=raters, systems=None if systems is None else tuple(systems)),
        prospect.left if most is None else min(most, prospect.left),
    )
    notes: list[str] = []
    cases = {}
    for name, sure in (("expected", None), ("assured", assurance)):
        if budget is None:
            found, remark = search.cheapest(each, sure)
        else:
            found, remark = search.best(budget, each, sure), None
        cases[name] = found
        notes += [remark] if remark is not None else []
    best = cases["assured"] or cases["expected"]
    now = goal.half_width(prospect.after(Further(0))) if prospect.made else None
    return Plan(
        goal=goal.name,
        level=goal.level,
        assurance=assurance,
        made=prospect.made,
        half_width=now,
        expected=cases["expected"],
        assured=cases["assured"],
        spending=() if best is None else tuple(search.spending(best)),
        notes=tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for judgments that reach a goal."""

    prospect: Prospect
    goal: Goal
    prices: Prices
    start: Further
    most: int

    def case(self, further: Further, sure: float | None) -> Case:
        judgments = self.prospect.judgments(further)
        first = self.prospect.judgments(replace(further, each=1.0))
        cost = self.prices.judgment * judgments + self.prices.output * first
        half_width = self.goal.half_width(self.prospect.after(further), sure)
        raters = further.raters or self.prospect.raters
        return Case(
            outputs=further.outputs,
            judgments_per_output=further.each,
            raters=raters,
            judgments=judgments,
            cost=float(cost),
            half_width=half_width,
        )

    def cheapest(self, each: float | None, sure: float | None) -> tuple[Case | None, str | None]:
        """Return the cheapest case that reaches the goal, and what is to be said of it."""
        tried = (each,) if each is not None else _EACH if self.prices.output else _EACH[:1]
        found = [self._least(replace(self.start, each=one), sure) for one in tried]
        cases = [self.case(one, sure) for one in found if one is not None]
        if cases:
            return min(cases, key=lambda one: one.cost), None
        remark = (
            "one judgment of every output does not reach the goal: outputs are judged more often"
        )
        if (
            each is None
            and self._reach(replace(self.start, outputs=self.most, each=_MOST_EACH), sure) <= 1
        ):
            return self.case(self._fewest(sure), sure), remark
        return self._with_more_raters(each, sure)

    def _with_more_raters(
        self, each: float | None, sure: float | None
    ) -> tuple[Case | None, str | None]:
        """Return the case with the fewest raters that reaches the goal where these cannot."""
        known = self.start.raters or self.prospect.raters
        for times in _MORE_RATERS[1:] if known is not None and self.start.raters is None else ():
            assert known is not None
            raters = known * times
            for one in (1.0, 2.0) if each is None else (each,):
                further = self._least(replace(self.start, raters=raters, each=one), sure)
                if further is not None:
                    return self.case(further, sure), (
                        f"{self._likely()} with {known} raters, however much they judge, as far as is known of "
                        f"raters: {raters} are planned for"
                    )
        return None, f"{self._likely()} even if all outputs are judged again and again"

    def _likely(self) -> str:
        """Say how likely the goal is to be reached if everything is judged, again and again."""
        everything = replace(self.start, outputs=self.most, each=_MOST_EACH)
        likely = [one for one in range(5, 100, 5) if self._reach(everything, one / 100) <= 1]
        chance = f"about {max(likely)}%" if likely else "less than 5%"
        return f"the goal is reached with a probability of {chance}"

    def best(self, budget: float, each: float | None, sure: float | None) -> Case | None:
        """Return the narrowest case that a budget pays."""
        cases = []
        for one in (1.0, *_AGAIN) if each is None else (each,):
            low, high = 0, self.most
            while low < high:
                middle = (low + high + 1) // 2
                cost = self.cost(replace(self.start, outputs=middle, each=one))
                low, high = (middle, high) if cost <= budget else (low, middle - 1)
            further = replace(self.start, outputs=low, each=one)
            if low and self.cost(further) <= budget:
                cases.append(self.case(further, sure))
            if low < self.most and not self.prices.output:
                break
        if not cases:
            raise NotEstimableError(
                f"the budget of {budget:g} pays for no further judgment: give more, or a lower price"
            )
        return min(cases, key=lambda one: (one.half_width, one.cost))

    def cost(self, further: Further) -> float:
        judgments = self.prospect.judgments(further)
        first = self.prospect.judgments(replace(further, each=1.0))
        return float(self.prices.judgment * judgments + self.prices.output * first)

    def _reach(self, further: Further, sure: float | None) -> float:
        return self.goal.reach(self.prospect.after(further), sure)

    def _least(self, further: Further, sure: float | None) -> Further | None:
        """Return the fewest outputs that reach the goal, with so many judgments of each."""
        low, at_low = 0, math.inf
        if self.prospect.made:
            at_low = self._reach(replace(further, outputs=0, each=1.0), sure)
            if at_low <= 1:
                return replace(further, outputs=0, each=1.0)
        high: int | None = None
        at_high, number = 0.0, 64
        for _ in range(_STEPS):
            if math.isfinite(at_low):
                number = self._guess(low, at_low, high, at_high)
            elif low:
                number = 4 * low
            number = max(min(number, self.most if high is None else high - 1), low + 1)
            found = self._reach(replace(further, outputs=number), sure)
            if found <= 1:
                high, at_high = number, found
            elif number >= self.most:
                return None
            else:
                low, at_low = number, found
            if high is not None and (at_high > _NEAR or high - low <= max(1, high // 50)):
                break
        return None if high is None else replace(further, outputs=high)

    def _guess(self, low: int, at_low: float, high: int | None, at_high: float) -> int:
        """Return where the goal may be reached: errors fall about with the root of the outputs."""
        before = float(self.prospect.campaign.pools.size.max()) - self.prospect.left
        if high is None:
            return round((before + low) * (1.005 * at_low) ** 2 - before) + 1
        start, end = math.log(before + low + 1e-9), math.log(before + high)
        part = math.log(at_low * 1.005) / math.log(at_low / at_high)
        return math.ceil(math.exp(start + (end - start) * min(max(part, 0.05), 0.95)) - before)

    def _fewest(self, sure: float | None) -> Further:
        """Return the fewest judgments of each output that reach the goal, all outputs being judged."""
        tried = [replace(self.start, outputs=self.most, each=one) for one in _AGAIN]
        return next(one for one in tried if one.each == _MOST_EACH or self._reach(one, sure) <= 1)

    def spending(self, best: Case) -> Iterator[Spending]:
        """Yield what the same number of judgments gives that is spent on one thing, the best first."""
        if best.judgments == 0 or not self.prospect.made:
            return
        ways = {}
        outputs = min(best.outputs or self.most, self.most)
        ways["further outputs"] = replace(self.start, outputs=outputs)
        each = (self.prospect.made + best.judgments) / self.prospect.judged
        if each <= _MOST_EACH:
            ways["further judgments of the same outputs"] = replace(
                self.start, outputs=0, each=each
            )
        raters = self.start.raters or self.prospect.raters
        if raters is not None:
            name = f"further outputs, by {2 * raters} raters"
            ways[name] = replace(self.start, outputs=outputs, raters=2 * raters)
        asked = self.start.systems or range(self.prospect.campaign.k)
        if 1 < len(asked) <= _FEW:
            for one in asked:
                name = f"further outputs of {self.prospect.campaign.systems[one]} only"
                more = min(best.judgments, self.most)
                ways[name] = replace(self.start, outputs=more, systems=(one,))
        found = [
            Spending(
                on=name,
                judgments=self.prospect.judgments(way),
                half_width=self.goal.half_width(self.prospect.after(way)),
            )
            for name, way in ways.items()
            if abs(self.prospect.judgments(way) - best.judgments) <= _ALIKE * best.judgments
        ]
        yield from sorted(found, key=lambda one: one.half_width)
