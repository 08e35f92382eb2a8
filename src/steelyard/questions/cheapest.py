"""The cheapest further judgments that reach a goal, and the best ones that a budget pays."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from steelyard.errors import NotEstimableError
from steelyard.questions.planned import Case, Plan, Spending
from steelyard.questions.precision import Precision
from steelyard.questions.prospect import Further, Prospect

__all__ = ["planned"]

# Judgments of an output that are tried where all outputs are judged.
_AGAIN = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
_MOST_EACH = _AGAIN[-1]
_MORE_RATERS = (2, 4, 8, 16, 32)
_STEPS = 10
# Ways to spend are compared that cost as many judgments, within this share; systems are taken one by one up to so many.
_ALIKE, _FEW = 0.2, 4
# A search ends where the goal is reached by no more than this leaves.
_NEAR = 0.985
_AGAIN_AND_AGAIN = (
    "one judgment of every output does not reach the goal: outputs are judged more often"
)


def planned(
    prospect: Prospect,
    goal: Precision,
    *,
    budget: float | None = None,
    judgment_price: float = 1.0,
    assurance: float = 0.8,
    raters: int | None = None,
    systems: Sequence[int] | None = None,
) -> Plan:
    """Return the cheapest further judgments for a goal, or the best for a budget.

    Parameters
    ----------
    prospect : Prospect
        The campaign so far, and what may be judged next.
    goal : Precision
        What is to be reached.
    budget : float, optional
        What may be spent, instead of the limit of `goal`.
    judgment_price : float
        Of a judgment.
    assurance : float
        The probability of reaching the goal.
    raters : int, optional
        Raters who make the judgments; those of before by default.
    systems : sequence of int, optional
        The systems that get judgments; all that may by default.
    """
    start = Further(0, raters=raters, systems=None if systems is None else tuple(systems))
    search = _Search(prospect, goal, judgment_price, start)
    notes: tuple[str | None, ...] = ()
    if budget is None:
        expected, of_expected = search.cheapest(None)
        assured, of_assured = search.cheapest(assurance)
        expected = search.no_dearer(expected, assured)
        notes = (of_expected, of_assured)
    else:
        expected, assured = search.best(budget, None), search.best(budget, assurance)
    best = assured or expected
    return Plan(
        goal=goal.name,
        level=goal.level,
        assurance=assurance,
        made=prospect.made,
        half_width=goal.half_width(prospect.after(Further(0))) if prospect.made else None,
        expected=expected,
        assured=assured,
        spending=() if best is None else tuple(search.spending(best)),
        notes=tuple(dict.fromkeys(one for one in notes if one is not None)),
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for judgments that reach a goal."""

    prospect: Prospect
    goal: Precision
    price: float
    start: Further

    @property
    def most(self) -> int:
        """Outputs of a system that may be judged."""
        return self.prospect.left

    def case(self, further: Further, sure: float | None) -> Case:
        judgments = self.prospect.judgments(further)
        return Case(
            outputs=further.outputs,
            judgments_per_output=further.each,
            raters=further.raters or self.prospect.raters,
            judgments=judgments,
            cost=float(self.price * judgments),
            half_width=self.goal.half_width(self.prospect.after(further), sure),
        )

    def cheapest(self, sure: float | None) -> tuple[Case | None, str | None]:
        """Return the cheapest case that reaches the goal, and what is to be said of it."""
        found = self._least(self.start, sure)
        if found is not None:
            return self.case(found, sure), None
        everything = [replace(self.start, outputs=self.most, each=one) for one in _AGAIN]
        if self._reach(everything[-1], sure) <= 1:
            enough = next(
                one for one in everything if one.each == _MOST_EACH or self._reach(one, sure) <= 1
            )
            return self.case(enough, sure), _AGAIN_AND_AGAIN
        likely = [one for one in range(5, 100, 5) if self._reach(everything[-1], one / 100) <= 1]
        chance = f"about {max(likely)}%" if likely else "less than 5%"
        said = f"the goal is reached with a probability of {chance}"
        known = self.prospect.raters if self.start.raters is None else None
        for times in _MORE_RATERS if known is not None else ():
            raters = (known or 1) * times
            for each in (1.0, 2.0):
                further = self._least(replace(self.start, raters=raters, each=each), sure)
                if further is not None:
                    return self.case(further, sure), (
                        f"{said} with {known} raters, however much they judge, as far as is known of "
                        f"raters: {raters} are planned for"
                    )
        return None, f"{said} even if all outputs are judged again and again"

    def no_dearer(self, expected: Case | None, assured: Case | None) -> Case | None:
        """Return the expected case, by the assured one's raters where these make it cheaper."""
        if expected is None or assured is None or expected.judgments <= assured.judgments:
            return expected
        found = self._least(replace(self.start, raters=assured.raters), None)
        return replace(assured) if found is None else self.case(found, None)

    def best(self, budget: float, sure: float | None) -> Case:
        """Return the narrowest case that a budget pays."""

        def paid(further: Further) -> bool:
            return self.price * self.prospect.judgments(further) <= budget

        low, high = 0, self.most
        while low < high:
            middle = (low + high + 1) // 2
            within = paid(replace(self.start, outputs=middle))
            low, high = (middle, high) if within else (low, middle - 1)
        if not low:
            raise NotEstimableError(
                f"the budget of {budget:g} pays for no further judgment: give more, or a lower price"
            )
        tried = [replace(self.start, outputs=low)]
        if low == self.most:
            tried += [replace(self.start, outputs=low, each=one) for one in _AGAIN]
        cases = [self.case(one, sure) for one in tried if paid(one)]
        return min(cases, key=lambda one: (one.half_width, one.cost))

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
        before = float(self.prospect.campaign.pools.size.max()) - self.most
        if high is None:
            return round((before + low) * (1.005 * at_low) ** 2 - before) + 1
        start, end = math.log(before + low + 1e-9), math.log(before + high)
        part = math.log(at_low * 1.005) / math.log(at_low / at_high)
        return math.ceil(math.exp(start + (end - start) * min(max(part, 0.05), 0.95)) - before)

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
