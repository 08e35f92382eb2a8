"""Variance components: as printed, as released, reproduced and unbiased (table 2)."""

from dataclasses import dataclass

import numpy as np

from steelyard.paper.printed import COMPONENTS, PrintedVariances
from steelyard.paper.release import PaperTask
from steelyard.paper.released_lines import REFERENCE
from steelyard.single.components import VarianceComponents, variance_components
from steelyard.single.printed import PrintedComponents, printed_components

__all__ = ["PromptVariances", "ReleasedVariances", "variances"]


@dataclass(frozen=True)
class ReleasedVariances:
    """Variance components of a system in the authors' results."""

    rater: float
    item: float
    noise_ratio: float


@dataclass(frozen=True)
class PromptVariances:
    """Variance components of one system, or of all, under one prompt.

    Attributes
    ----------
    task, prompt, system : str
        Whose; system ``*`` is all of them, the reference included, as in table 2.
    printed : PrintedVariances or None
        The row of table 2.
    released : ReleasedVariances or None
        The authors' results, which are per system.
    reproduced : PrintedComponents
        The same formulas on the released judgments.
    unbiased : VarianceComponents
        Free of rater noise in the item variance.
    inverse_count : float
        Mean of 1 / m over outputs, m being their number of judgments.
    """

    task: str
    prompt: str
    system: str
    printed: PrintedVariances | None
    released: ReleasedVariances | None
    reproduced: PrintedComponents
    unbiased: VarianceComponents
    inverse_count: float

    @property
    def largest_difference(self) -> float:
        """Greatest difference of the reproduced from the released numbers; NaN without those."""
        if self.released is None:
            return float("nan")
        pairs = (
            (self.released.rater, self.reproduced.rater),
            (self.released.item, self.reproduced.variance_of_means),
            (self.released.noise_ratio, self.reproduced.noise_ratio),
        )
        return max(abs(theirs - ours) for theirs, ours in pairs)

    @property
    def agrees_with_print(self) -> bool | None:
        """Whether all three printed numbers come out to the last digit; None if none is printed."""
        if self.printed is None:
            return None
        pairs = (
            (self.printed.rater, self.reproduced.rater),
            (self.printed.item, self.reproduced.variance_of_means),
            (self.printed.noise_ratio, self.reproduced.noise_ratio),
        )
        # Half a unit of the third decimal, and a little for how halves are rounded.
        return all(abs(theirs - ours) <= 0.000505 for theirs, ours in pairs)


def variances(task: PaperTask, *, seed: int, resamples: int = 1000) -> list[PromptVariances]:
    """Return the components under each prompt: of all systems together, then of each.

    Parameters
    ----------
    task : PaperTask
        Released judgments.
    seed : int
        Seed of the intervals' bootstrap.
    resamples : int
        Its size.
    """
    return [
        _variances(task, prompt, system, seed=seed, resamples=resamples)
        for prompt in task.prompts
        for system in ("*", *task.systems, REFERENCE)
        if system == "*" or any(line.system == system for line in task.lines)
    ]


def _variances(
    task: PaperTask, prompt: str, system: str, *, seed: int, resamples: int
) -> PromptVariances:
    lines = task.under(prompt, None if system == "*" else system)
    released = task.released("gamma", system, prompt)
    return PromptVariances(
        task=task.name,
        prompt=prompt,
        system=system,
        printed=next(
            (
                row
                for row in COMPONENTS
                if system == "*" and (row.task, row.prompt) == (task.name, prompt)
            ),
            None,
        ),
        released=None
        if released is None
        else ReleasedVariances(released["sigma2_a"], released["sigma2_f"], released["nu"]),
        reproduced=printed_components(lines.human, lines.line),
        unbiased=variance_components(
            lines.human, lines.line, resamples=resamples, rng=np.random.default_rng(seed)
        ),
        inverse_count=float(np.mean(1 / lines.count)),
    )
