"""The estimates of a study, with what was left out of them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from steelyard.estimate import Estimate
from steelyard.study.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Estimates"]

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
    """

    def __init__(
        self,
        found: Iterable[Estimate] = (),
        left_out: dict[tuple[str, str], str] | None = None,
        *,
        columns: Sequence[str] = _COLUMNS,
    ) -> None:
        super().__init__(found, columns=columns)
        self.left_out = left_out or {}

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each system that was left out."""
        return tuple(
            f"{system}, {prompt}: left out: {reason}"
            for (prompt, system), reason in self.left_out.items()
        )

    def plot(self) -> "Figure":
        """Draw the interval of each system, prompts side by side.

        Returns
        -------
        matplotlib.figure.Figure
        """
        # matplotlib is slow to load
        from matplotlib.figure import Figure  # noqa: PLC0415

        systems = list(dict.fromkeys(str(one.system) for one in self))
        prompts = list(dict.fromkeys(one.prompt for one in self))
        size = 2.0 + 4.0 * max(len(prompts), 1), 1.2 + 0.35 * len(systems)
        figure = Figure(figsize=size, layout="constrained")
        for number, prompt in enumerate(prompts):
            own = [one for one in self if one.prompt == prompt]
            axes = figure.add_subplot(1, len(prompts), number + 1)
            rows = [systems.index(str(one.system)) for one in own]
            axes.hlines(rows, [one.low for one in own], [one.high for one in own])
            axes.plot([one.estimate for one in own], rows, "o")
            # Names are text, not formulas: a dollar sign stays one.
            axes.set_yticks(range(len(systems)), systems, parse_math=False)
            axes.set_ylim(len(systems) - 0.5, -0.5)
            axes.set_xlabel(f"mean human score, {own[0].level:.0%} interval")
            axes.set_title(str(prompt or ""), parse_math=False)
        return figure
