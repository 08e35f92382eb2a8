"""What a race is about, checked once."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from steelyard.errors import InvalidArgumentError

__all__ = ["RaceGoal", "RaceMethod", "RaceOptions"]

RaceGoal = Literal["best", "order", "difference"]
RaceMethod = Literal["betting", "asymptotic"]


@dataclass(frozen=True, kw_only=True)
class RaceOptions:
    """The options of a `Race`.

    Attributes
    ----------
    goal : {"best", "order", "difference"}
        What is to be decided: which system is best; the order of all; for every pair which is
        better, or that they differ by at most `margin`.
    margin : float or None
        Differences up to this do not matter. The goal "difference" needs it; with "best" the race
        also ends when one system is known to be at most so far below the best.
    level : float
        Probability with which everything that is ever said is right.
    bounds : (float, float) or None
        Least and greatest possible judgment; the asymptotic race needs none.
    method : {"betting", "asymptotic"}
        "betting" holds exactly, for all scores within `bounds` and from the first item on;
        "asymptotic" approximately, and says nothing before 50 items.
    """

    goal: RaceGoal = "best"
    margin: float | None = None
    level: float = 0.95
    bounds: tuple[float, float] | None = (0.0, 1.0)
    method: RaceMethod = "betting"

    def __post_init__(self) -> None:
        """Check every option."""
        for name, choices in (("goal", get_args(RaceGoal)), ("method", get_args(RaceMethod))):
            value = getattr(self, name)
            if value not in choices:
                raise InvalidArgumentError(
                    f"`{name}` must be one of {', '.join(choices)}; got {value!r}"
                )
        if not 0 < self.level < 1:
            raise InvalidArgumentError(
                f"`level` must lie strictly between 0 and 1; got {self.level}: write 0.95 for 95%"
            )
        self._check_bounds()
        self._check_margin()

    def _check_bounds(self) -> None:
        if not self.bounded:
            if self.method == "betting":
                raise InvalidArgumentError(
                    "`bounds` must be two finite numbers for the betting race; "
                    f"got {self.bounds}: use asymptotic where scores have no bound"
                )
        elif self.scale <= 0:
            raise InvalidArgumentError(
                f"`bounds` must be two numbers, the lower first; got {self.bounds}"
            )

    def _check_margin(self) -> None:
        if self.margin is None:
            if self.goal == "difference":
                raise InvalidArgumentError(
                    "`margin` is needed for the goal difference: the difference that matters"
                )
            return
        if self.goal == "order":
            raise InvalidArgumentError(
                "`margin` does not go with the goal order: use the goal difference, which decides "
                "every pair up to a margin"
            )
        if not 0 < self.margin < math.inf:
            raise InvalidArgumentError(f"`margin` must be greater than 0; got {self.margin}")
        if self.bounded and self.margin >= self.scale:
            raise InvalidArgumentError(
                f"`margin` must be less than the range of scores, {self.scale:g}; got {self.margin:g}: no two systems "
                "differ by more"
            )

    @property
    def bounded(self) -> bool:
        """Whether scores have a least and a greatest value."""
        return self.bounds is not None and all(map(math.isfinite, self.bounds))

    @property
    def scale(self) -> float:
        """The range of scores, by which differences are divided; 1 where there is none."""
        return self.bounds[1] - self.bounds[0] if self.bounds and self.bounded else 1.0

    @property
    def alpha(self) -> float:
        """Probability with which anything false may ever be said."""
        return 1 - self.level
