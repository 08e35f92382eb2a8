"""How a sample is to be drawn, in terms of the columns of the pool."""

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.sampling.draw import Design
from steelyard.sampling.item_pool import ItemPool
from steelyard.sampling.strata import quantile_strata

__all__ = ["SampleDesign"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleDesign:
    """A design and the columns that it needs.

    Attributes
    ----------
    design : str
        "simple", "stratified", "proportional-to-size", "clusters" or "paired".
    strata : str or None
        Column that names the stratum of each output.
    quantiles, metric : int and str, or None
        Strata from the quantiles of this metric, instead of a column.
    size : str or None
        Column of positive sizes.
    clusters : str or None
        Column that names the cluster of each output.
    """

    design: Design
    strata: str | None = None
    quantiles: int | None = None
    metric: str | None = None
    size: str | None = None
    clusters: str | None = None

    def __post_init__(self) -> None:
        """Check that the options fit the design."""
        if self.design not in get_args(Design):
            raise InvalidArgumentError(
                f"`design` must be one of {', '.join(get_args(Design))}; got {self.design!r}"
            )
        for name, design in (("size", "proportional-to-size"), ("clusters", "clusters")):
            value = getattr(self, name)
            if (self.design == design) != (value is not None):
                raise InvalidArgumentError(
                    f"`{name}` goes with design {design}, and only with it; got design {self.design} and "
                    f"{name} {value!r}"
                )
        if self.design == "stratified":
            self._check_strata()
        elif any(option is not None for option in (self.strata, self.quantiles, self.metric)):
            raise InvalidArgumentError(
                "`strata`, `quantiles` and `metric` go with design stratified; "
                f"got design {self.design}"
            )

    def _check_strata(self) -> None:
        if (self.strata is None) == (self.quantiles is None):
            raise InvalidArgumentError(
                "a stratified draw needs either `strata`, a column, or `quantiles` of a `metric`"
            )
        if (self.quantiles is None) != (self.metric is None):
            raise InvalidArgumentError("`quantiles` and `metric` go together; got one of them")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the pool that it needs."""
        named = (self.strata, self.metric, self.size, self.clusters)
        return tuple(one for one in named if one is not None)

    def columns_of(self, pool: ItemPool) -> dict[str, Any]:
        """Return what `draw_sample` must know of the pool."""
        if self.design == "paired":
            return {"differs": pool.differs()}
        if self.size is not None:
            return {"size": pool.numbers(self.size)}
        if self.strata is not None:
            return {"strata": pool.labels(self.strata)}
        if self.metric is not None and self.quantiles is not None:
            number = quantile_strata(pool.numbers(self.metric), self.quantiles)
            return {"strata": np.array([f"{self.metric} {one}/{number.max()}" for one in number])}
        return {}
