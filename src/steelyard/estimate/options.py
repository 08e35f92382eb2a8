"""The options that all estimators share, checked once and passed on whole."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.estimate.repeats import Repeats

__all__ = ["Options", "Raters", "Target"]

Target = Literal["pool", "census", "superpopulation"]
Raters = Literal["fixed", "random", "adjusted"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is estimated, and what is random.

    Attributes
    ----------
    target : {"pool", "census", "superpopulation"}
        The mean human score of this pool; the mean if every output of it were judged once by
        this very process; or the mean over the population that the pool is a sample of.
    raters_as : {"fixed", "random", "adjusted"}
        Whether judgments are independent given the output (the paper's assumption), share the
        leniency of raters who are themselves a sample, or are also freed of that leniency.
    level : float
        Confidence level, between 0 and 1.
    bounds : (float, float), optional
        Least and greatest possible judgment.
    rater_variance : float, optional
        Variance of judgments of one output, known from a pilot.
    lent_repeats : Repeats, optional
        What outputs elsewhere tell of that variance, used where no output here has two judgments.
    ledger : bool
        Whether to tell what each device saved.
    """

    target: Target = "pool"
    raters_as: Raters = "fixed"
    level: float = 0.95
    bounds: tuple[float, float] | None = None
    rater_variance: float | None = None
    lent_repeats: Repeats | None = None
    ledger: bool = False

    def __post_init__(self) -> None:
        """Check every option."""
        _one_of("target", self.target, get_args(Target))
        _one_of("raters_as", self.raters_as, get_args(Raters))
        if not 0 < self.level < 1:
            raise InvalidArgumentError(
                f"`level` must lie strictly between 0 and 1; got {self.level}: "
                "write 0.95 for a 95% interval"
            )
        if self.bounds is not None and not (
            np.isfinite(self.bounds).all() and self.bounds[0] < self.bounds[1]
        ):
            raise InvalidArgumentError(
                f"`bounds` must be two finite numbers, the lower first; got {self.bounds}"
            )
        if self.rater_variance is not None and not 0 <= self.rater_variance < np.inf:
            raise InvalidArgumentError(
                f"`rater_variance` must be finite and not negative; got {self.rater_variance}"
            )
        self._check_combinations()

    def _check_combinations(self) -> None:
        if self.raters_as == "fixed":
            return
        if self.target == "census":
            raise InvalidArgumentError(
                '`target` "census" speaks of the raters at hand and cannot go with '
                f'`raters_as` "{self.raters_as}": use target="pool"'
            )


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidArgumentError(f"`{name}` must be one of {', '.join(choices)}; got {value!r}")
