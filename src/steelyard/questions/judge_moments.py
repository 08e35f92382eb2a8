"""Means and covariances of human scores, a metric and columns within systems, and what they are without each item."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import stdtrit

from steelyard.model.campaign import Floats, Ints
from steelyard.model.fit import Fit
from steelyard.model.predicted import leniency

__all__ = ["JudgedMeans", "Moments", "Value", "value_of"]

# Items are left out one at a time, or in so many groups.
_GROUPS = 400
# Fewer second judgments than this do not show how much raters differ.
_FEWEST_REPEATS = 5
# Where nothing shows it, this share of the variance between single judgments is taken to be that of outputs.
_ASSUMED = 0.5
# Less of the variance of outputs than this share of the observed is not believed.
_LEAST = 0.05


@dataclass(frozen=True)
class Value:
    """A number with its interval; NaN where the judgments do not show it."""

    value: float
    low: float
    high: float

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        """Let the published schema say that what is not known is null."""
        found = handler(core)
        for one in handler.resolve_ref_schema(found)["properties"].values():
            one["type"] = ["number", "null"]
        return found

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return bool(np.isfinite(self.value) and np.isfinite(self.low) and np.isfinite(self.high))

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 lies outside."""
        return self.is_known and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, eq=False)
class JudgedMeans:
    """The judged outputs, each with the mean of its judgments, from which raters' leniency is taken off.

    Attributes
    ----------
    system, item : (m,) arrays of int
        Whose output it is (of a shared text the first writer), and of which item.
    mean, count, square : (m,) arrays
        Mean judgment, number of judgments, and sum of squares around the mean.
    weight : (m,) array
        How many outputs of the pool each stands for, relative to the others.
    k : int
        Number of systems.
    """

    system: Ints
    item: Ints
    mean: Floats
    count: Floats
    square: Floats
    weight: Floats
    k: int

    @classmethod
    def of(cls, fit: Fit) -> Self:
        """Return the judged outputs of a fitted campaign."""
        campaign, m = fit.campaign, len(fit.campaign.item)
        score = campaign.score - leniency(fit)
        count = np.bincount(campaign.output, minlength=m).astype(np.float64)
        mean = np.bincount(campaign.output, score, m) / np.maximum(count, 1)
        square = np.bincount(campaign.output, (score - mean[campaign.output]) ** 2, m).astype(
            np.float64
        )
        weight = np.ones(m) if campaign.weight is None else campaign.weight
        return cls(
            system=campaign.writers.argmax(axis=1),
            item=campaign.item,
            mean=mean,
            count=count,
            square=square,
            weight=np.asarray(weight / weight.mean()),
            k=campaign.k,
        )

    @property
    def repeats(self) -> int:
        """Judgments beyond the first of each output."""
        return int(np.sum(self.count - 1))


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the columns of ``values``, human means first; row 0 of each is of all items.

    The other rows are without one item (or one group of items) each, which shows the errors of whatever
    is computed from them (the jackknife).
    """

    judged: JudgedMeans
    values: Floats

    @cached_property
    def group(self) -> Ints:
        """The group of each judged output."""
        return np.asarray(np.unique(self.judged.item, return_inverse=True)[1] % _GROUPS)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    def _left_out(self, value: Floats) -> Floats:
        """Return sums by system, of all items and without each group, (1 + groups, k)."""
        k, groups = self.judged.k, self.groups
        found = np.bincount(self.group * k + self.judged.system, value, groups * k)
        parts = found.reshape(groups, k)
        total = parts.sum(axis=0)
        return np.concatenate([total[np.newaxis], total - parts])

    @cached_property
    def mass(self) -> Floats:
        """Sum of the outputs' weights, (1 + groups, k)."""
        return self._left_out(self.judged.weight)

    @cached_property
    def sums(self) -> Floats:
        """Weighted sums of the values, (1 + groups, k, d)."""
        weight = self.judged.weight
        return np.stack([self._left_out(weight * one) for one in self.values.T], axis=-1)

    @cached_property
    def products(self) -> Floats:
        """Weighted sums of products of the values, (1 + groups, k, d, d)."""
        weight, d = self.judged.weight, self.values.shape[1]
        found = np.zeros((*self.mass.shape, d, d))
        for a in range(d):
            for b in range(a + 1):
                one = self._left_out(weight * self.values[:, a] * self.values[:, b])
                found[..., a, b] = found[..., b, a] = one
        return found

    @cached_property
    def within(self) -> Floats:
        """Covariance within systems, (1 + groups, d, d)."""
        mass = np.maximum(self.mass, 1e-300)
        around = (
            self.products
            - np.einsum("gka,gkb->gkab", self.sums, self.sums) / (mass[..., np.newaxis, np.newaxis])
        )
        square = self._left_out(self.judged.weight**2)
        freedom = np.sum(np.where(self.mass > 1e-9, self.mass - square / mass, 0.0), axis=1)
        return np.asarray(around.sum(axis=1) / np.maximum(freedom, 1e-9)[:, None, None])

    @cached_property
    def whole(self) -> tuple[Floats, Floats]:
        """Means, (1 + groups, d), and covariance, (1 + groups, d, d), over all outputs of all systems."""
        mass = self.mass.sum(axis=1)
        mean = self.sums.sum(axis=1) / mass[:, None]
        product = self.products.sum(axis=1) / mass[:, None, None]
        return mean, product - np.einsum("ga,gb->gab", mean, mean)

    @property
    def has_noise(self) -> bool:
        """Whether second judgments show how much raters differ."""
        return self.judged.repeats >= _FEWEST_REPEATS

    @cached_property
    def noise(self) -> Floats:
        """Variance of judgments of one output, (1 + groups,); NaN where nothing shows it."""
        if not self.has_noise:
            return np.full(self.groups + 1, np.nan)
        square = self._left_out(self.judged.square).sum(axis=1)
        freedom = self._left_out(self.judged.count - 1).sum(axis=1)
        return np.asarray(square / np.maximum(freedom, 1))

    @cached_property
    def single(self) -> Floats:
        """The mean share of a judgment's noise that is left in an output's mean, (1 + groups,)."""
        found = self._left_out(self.judged.weight / np.maximum(self.judged.count, 1)).sum(axis=1)
        return np.asarray(found / self.mass.sum(axis=1))

    @cached_property
    def signal(self) -> Floats:
        """Variance of the outputs' human scores within systems, without raters' noise, (1 + groups,)."""
        observed = self.within[:, 0, 0]
        if not self.has_noise:
            return np.asarray(_ASSUMED * observed)
        return np.asarray(np.maximum(observed - self.noise * self.single, _LEAST * observed))


def value_of(
    found: Floats,
    level: float,
    *,
    ends: tuple[float, float] = (-np.inf, np.inf),
    more: float = 0.0,
) -> Value:
    """Return the first number with its interval from the others, each without one group (Tukey 1958).

    Parameters
    ----------
    found : (1 + groups,) array
        The number from all items, and without each group.
    level : float
        Confidence level.
    ends : (float, float)
        Beyond which the number cannot lie.
    more : float
        Variance of what the groups do not show.
    """
    variance, freedom = jackknife(found)
    if not np.isfinite(found[0]) or not np.isfinite(variance):
        return Value(float("nan"), float("nan"), float("nan"))
    reach = float(stdtrit(freedom, (1 + level) / 2)) * float(np.sqrt(variance + more))
    value = float(np.clip(found[0], *ends))
    return Value(
        value, max(float(found[0]) - reach, ends[0]), min(float(found[0]) + reach, ends[1])
    )


def jackknife(found: Floats) -> tuple[float, float]:
    """Return the variance of a number and its degrees of freedom, fewer where a few groups decide it."""
    off = found[1:] - found[1:].mean()
    groups = len(off)
    square, fourth = float(np.sum(off**2)), float(np.sum(off**4))
    freedom = 3 * square**2 / max(fourth, 1e-300) - 1
    return (groups - 1) / groups * square, float(np.clip(freedom, 2.0, max(groups - 1, 2)))
