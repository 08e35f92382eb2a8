"""The parts of a comparison: the whole pools, each slice of them, or a stated mix of slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.errors import NotEstimableError
from steelyard.estimate import Estimate, Options
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.differences import Mix, Shared
from steelyard.study.campaign import Campaign
from steelyard.study.recorded_draw import DrawnCell
from steelyard.study.shared_texts import SharedTexts
from steelyard.study.slice_estimates import slice_points, spanning_clusters
from steelyard.study.slices import Slices

__all__ = ["ComparedParts"]


@dataclass(frozen=True, eq=False)
class ComparedParts:
    """What is compared of the systems in `cells` under one prompt.

    Attributes
    ----------
    campaign : Campaign
        All systems.
    prompt : str
        The prompt.
    cells : mapping of str to DrawnCell
        The judged outputs of each system.
    slices : Slices or None
        How outputs are cut.
    """

    campaign: Campaign
    prompt: str
    cells: Mapping[str, DrawnCell]
    slices: Slices | None

    @property
    def names(self) -> tuple[str | None, ...]:
        """The slices, or the mix of them; None for the whole pools."""
        if self.slices is None:
            return (None,)
        return self.slices.names if self.slices.mix is None else (self.slices.mix_name,)

    def shared(self, pairs: Sequence[tuple[int, int]]) -> list[list[Shared | Mix]]:
        """Return what each pair has in common in each part."""
        table, slices = self.campaign.table, self.slices
        texts = SharedTexts.of(self.campaign.outputs, list(self.cells), table.metrics, slices)
        if slices is None:
            return [list(texts.shared(pairs, table, self.prompt))]
        cut = [
            texts.shared(pairs, table, self.prompt, slice_number=number)
            for number in range(len(slices.names))
        ]
        if slices.mix is None:
            return [list(own) for own in cut]
        self._check_clusters(slices)
        weighed = list(zip(slices.mix, cut, strict=True))
        mixes = [
            [(weight, own[place]) for weight, own in weighed if weight > 0]
            for place in range(len(pairs))
        ]
        return [list(mixes)]

    def _check_clusters(self, slices: Slices) -> None:
        for system in self.cells:
            rows = self.campaign.table.of(self.prompt, system)
            if "cluster" in rows.columns:
                numbers = slices.numbers(system, rows["item"].to_numpy())
                error = spanning_clusters(slices.column, rows["cluster"].to_numpy(), numbers)
                if error is not None:
                    raise error

    def raters(self, system: str) -> list[set[str]]:
        """Return who judged a system in each part."""
        rows = self.campaign.table.of(self.prompt, system)
        if self.slices is None or self.slices.mix is not None:
            return [set(rows["rater"].unique())]
        numbers = self.slices.numbers(system, rows["item"].to_numpy())
        raters = rows["rater"].to_numpy()
        return [set(raters[numbers == one]) for one in range(len(self.slices.names))]

    def points(self, *, options: Options, seed: int) -> list[dict[str, float]]:
        """Return the estimate of each system in each part, NaN where there is none."""
        if self.slices is not None:
            chosen = (self.campaign, self.slices, self.prompt, self.cells)
            return slice_points(*chosen, options=options, seed=seed)
        judged = self.campaign.judged(self.prompt, self.cells)
        means = campaign_means(judged, options=options, seed=seed)
        return [dict(zip(self.cells, map(_point, means), strict=True))]


def _point(found: Estimate | NotEstimableError) -> float:
    return np.nan if isinstance(found, NotEstimableError) else found.estimate
