"""How a sample is to be drawn, in terms of the columns of the pool."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.design.allocation import pilot_deviations
from steelyard.design.sampling import Design
from steelyard.design.strata import quantile_strata
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.study.item_pool import ItemPool
from steelyard.tables import Judgments

__all__ = ["Allocation", "SampleDesign"]

Allocation = Literal["proportional", "neyman"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleDesign:
    """A design and the columns that it needs.

    Attributes
    ----------
    design : str
        "simple", "spread", "stratified", "proportional-to-size" or "paired".
    strata : str or None
        Column that names the stratum of each output.
    quantiles, metric : int and str, or None
        Strata from the quantiles of this metric, instead of a column.
    allocation : {"proportional", "neyman"}
        How a stratified draw is divided.
    pilot, prompt : Judgments and str, or None
        Where the standard deviations of Neyman allocation come from, or the control of a spread draw.
    size : str or None
        Column of positive sizes.
    corrected_by : tuple of str
        Metrics that the estimate will correct with: Neyman allocation goes by what they leave.
    by : tuple of str
        Metrics that a spread draw is spread by.
    """

    design: Design
    strata: str | None = None
    quantiles: int | None = None
    metric: str | None = None
    allocation: Allocation = "proportional"
    pilot: Judgments | None = None
    prompt: str | None = None
    size: str | None = None
    corrected_by: tuple[str, ...] = ()
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that the options fit the design."""
        for name, value, choices in (
            ("design", self.design, get_args(Design)),
            ("allocation", self.allocation, get_args(Allocation)),
        ):
            if value not in choices:
                raise InvalidArgumentError(
                    f"`{name}` must be one of {', '.join(choices)}; got {value!r}"
                )
        if (self.design == "proportional-to-size") != (self.size is not None):
            raise InvalidArgumentError(
                "`size` goes with design proportional-to-size, and only with it; "
                f"got design {self.design} and size {self.size!r}"
            )
        if self.corrected_by and self.allocation != "neyman":
            raise InvalidArgumentError(
                '`corrected_by` goes with `allocation` "neyman", which needs to know what the '
                f"metrics leave; got allocation {self.allocation}"
            )
        self._check_by()
        if self.design == "stratified":
            self._check_strata()
        elif any(option is not None for option in (self.strata, self.quantiles, self.metric)):
            raise InvalidArgumentError(
                "`strata`, `quantiles` and `metric` go with design stratified; "
                f"got design {self.design}"
            )
        elif self.pilot is not None and self.design != "spread":
            raise InvalidArgumentError(
                f"`pilot` goes with design stratified or spread; got design {self.design}"
            )
        elif self.allocation == "neyman":
            raise InvalidArgumentError(
                f'`allocation` "neyman" goes with design stratified; got design {self.design}'
            )

    def _check_by(self) -> None:
        if self.by and self.design != "spread":
            raise InvalidArgumentError(f"`by` goes with design spread; got design {self.design}")
        if self.by and self.pilot is not None:
            raise InvalidArgumentError(
                "`by` and `pilot` are two ways to say what a draw is spread by: leave out one of them"
            )

    def _check_strata(self) -> None:
        if (self.strata is None) == (self.quantiles is None):
            raise InvalidArgumentError(
                "a stratified draw needs either `strata`, a column, or `quantiles` of a `metric`"
            )
        if (self.quantiles is None) != (self.metric is None):
            raise InvalidArgumentError("`quantiles` and `metric` go together; got one of them")
        if (self.allocation == "neyman") != (self.pilot is not None):
            raise InvalidArgumentError(
                '`pilot` and `allocation` "neyman" go together: standard deviations come from a '
                "pilot; got one of them"
            )

    def columns_of(self, pool: ItemPool) -> dict[str, Any]:
        """Return what `draw_sample` must know of the pool."""
        if self.design == "paired":
            return {"differs": pool.differs()}
        if self.size is not None:
            return {"size": pool.numbers(self.size)}
        if self.design in {"simple", "spread"}:
            return {}
        if self.strata is not None:
            labels = pool.labels(self.strata)
        else:
            assert self.metric is not None
            assert self.quantiles is not None
            number = quantile_strata(pool.numbers(self.metric), self.quantiles)
            labels = np.array([f"{self.metric} {one}/{number.max()}" for one in number])
        if self.pilot is None:
            return {"strata": labels}
        return {"strata": labels, "deviations": self._deviations(pool, labels, self.pilot)}

    def pilot_prompt(self, pilot: Judgments) -> str:
        """Return the prompt of the pilot that counts."""
        known = ", ".join(pilot.prompts)
        if self.prompt is None and len(pilot.prompts) > 1:
            raise InvalidArgumentError(
                f"`prompt` must be chosen for the pilot; {pilot.name} has: {known}"
            )
        if self.prompt is not None and self.prompt not in pilot.prompts:
            raise InvalidArgumentError(
                f"prompt {self.prompt!r} has no judgments in {pilot.name}; there are: {known}"
            )
        return self.prompt or pilot.prompts[0]

    def _deviations(
        self, pool: ItemPool, labels: NDArray[Any], pilot: Judgments
    ) -> dict[Any, float]:
        """Standard deviations by stratum, of these systems where the pilot has them."""
        judged = pilot.frame.filter(pl.col("prompt") == self.pilot_prompt(pilot))
        own = judged.filter(pl.col("system").is_in(pool.systems))
        judged = (own if own.height else judged).select("item", "system", "score")
        strata = pl.DataFrame({"item": pool.items, "stratum": labels}).with_columns(
            pl.Series(f"metric {number}", pool.numbers(name))
            for number, name in enumerate(self.corrected_by)
        )
        joined = judged.join(strata, on="item", how="inner")
        if joined.is_empty():
            raise InvalidDataError(f"{pilot.name}: judges no item that is in {pool.name}")
        output = joined.select(pl.struct("item", "system").rank("dense")).to_series()
        return pilot_deviations(
            joined["score"].to_numpy(),
            joined["stratum"].to_numpy(),
            items=output.to_numpy(),
            metric=joined.select(pl.col("^metric .*$")).to_numpy() if self.corrected_by else None,
            names=dict.fromkeys(labels.tolist(), 0),
        )
