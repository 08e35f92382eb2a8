"""The estimates of a study, with what was left out of them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import UnknownNameError
from steelyard.estimate import Estimate
from steelyard.study.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Estimates", "control_in_words"]

# Metrics that are named; the others are counted.
_NAMED = 5

_COLUMNS = (
    *("system", "prompt", "estimate", "low", "high", "baseline.estimate", "data_efficiency"),
    *("n_judgments", "n_outputs", "pool_size"),
)


class Estimates(Results[Estimate]):
    """A list of estimates, one for each prompt and system.

    Attributes
    ----------
    left_out : dict
        Why there is no estimate, by prompt and system.
    remarks : tuple of str
        What is to be said of all estimates together, and of slices that were left out.
    """

    def __init__(
        self,
        found: Iterable[Estimate] = (),
        left_out: dict[tuple[str, str], str] | None = None,
        *,
        remarks: Sequence[str] = (),
        columns: Sequence[str] = _COLUMNS,
    ) -> None:
        found = list(found)
        if any(one.slice is not None for one in found) and "slice" not in columns:
            columns = (*columns[:2], "slice", *columns[2:])
        super().__init__(found, columns=columns)
        self.left_out = left_out or {}
        self.remarks = tuple(remarks)

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each system that was left out, and remarks on all."""
        left_out = (
            f"{system}, {prompt}: left out: {reason}"
            for (prompt, system), reason in self.left_out.items()
        )
        return (*left_out, *self.remarks)

    def of_slice(self, name: str) -> "Estimates":
        """Return the estimates of one slice.

        Raises
        ------
        UnknownNameError
            If there is no such slice.
        """
        found = [one for one in self if one.slice == name]
        if not found:
            there = dict.fromkeys(str(one.slice) for one in self if one.slice is not None)
            raise UnknownNameError(
                f"no estimate is of slice {name!r}; there are: {'; '.join(there) or 'none'}"
            )
        return self._part(found)

    def _below(self) -> tuple[str, ...]:
        own = (f"{_label(one)}, {one.prompt}: {note}" for one in self for note in one.notes)
        return (*dict.fromkeys(own), *self.notes)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the interval of each system, prompts below each other, with the plain means.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.study.result_plots import plot_estimates  # noqa: PLC0415

        return plot_estimates(self, ax)


def _label(one: Estimate) -> str:
    return str(one.system) if one.slice is None else f"{one.system}, {one.slice}"


def control_in_words(found: Sequence[Estimate]) -> str | None:
    """Return which metrics carry the control of these estimates; None where none was learned.

    Parameters
    ----------
    found : sequence of Estimate
        Estimates under one prompt, with the same metrics.
    """
    learned = [one for one in found if one.shares and one.metrics]
    if not learned:
        return None
    names = learned[0].metrics
    shares = np.sum([one.shares for one in learned], axis=0)
    if not shares.any():
        which = f"metrics {', '.join(names)}" if len(names) <= _NAMED else f"{len(names)} metrics"
        return f"no use is made of the {which}: judgments do not follow them"
    order = sorted(zip(shares / shares.sum(), names, strict=True), key=lambda pair: -pair[0])
    first = [f"{name} {share:.0%}" for share, name in order[:_NAMED] if share >= 0.005]
    more = f" and {len(names) - len(first)} more" if len(names) > len(first) else ""
    return f"control learned from {', '.join(first)}{more}"
