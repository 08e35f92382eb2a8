"""Variance components: as printed, as released, reproduced and unbiased (table 2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.paper.printed import COMPONENTS, PaperComponents
from steelyard.paper.release import REFERENCE, PaperTask
from steelyard.single.components import VarianceComponents, check_repeats, variance_components
from steelyard.single.judged import judged_outputs

__all__ = ["PromptVariances", "printed_components", "variances"]


@dataclass(frozen=True)
class PromptVariances:
    """Variance components of one system, or of all, under one prompt.

    Attributes
    ----------
    task, prompt, system : str
        Whose; system ``*`` is all of them, the reference included, as in table 2.
    printed, released : PaperComponents or None
        The row of table 2, and the authors' results, which are per system.
    reproduced : PaperComponents
        The same formulas on the released judgments.
    unbiased : VarianceComponents
        Free of rater noise in the item variance.
    inverse_count : float
        Mean of 1 / m over outputs, m being their number of judgments.
    """

    task: str
    prompt: str
    system: str
    printed: PaperComponents | None
    released: PaperComponents | None
    reproduced: PaperComponents
    unbiased: VarianceComponents
    inverse_count: float

    @property
    def largest_difference(self) -> float:
        """Greatest difference of the reproduced from the released numbers; NaN without those."""
        return _largest_difference(self.released, self.reproduced)

    @property
    def agrees_with_print(self) -> bool | None:
        """Whether all three printed numbers come out to the last digit; None if none is printed."""
        if self.printed is None:
            return None
        # Half a unit of the third decimal, and a little for how halves are rounded.
        return _largest_difference(self.printed, self.reproduced) <= 0.000505

    @property
    def factor(self) -> float:
        """How many times the unbiased noise ratio is the printed one."""
        return self.unbiased.noise_ratio.value / self.reproduced.noise_ratio


def _largest_difference(theirs: PaperComponents | None, ours: PaperComponents) -> float:
    if theirs is None:
        return float("nan")
    return max(abs(a - b) for a, b in zip(theirs, ours, strict=True))


def printed_components(human: ArrayLike, items: ArrayLike) -> PaperComponents:
    r"""Variance components by the formulas behind the paper's table of tasks.

    .. math:: \hat\sigma_a^2 = \frac{SS_{within}}{M - n}, \quad
              \text{printed } \sigma_f^2 = \frac{1}{n - 1} \sum_i (\bar y_i - \bar{\bar y})^2,

    whose expectation is :math:`\sigma_f^2 + \sigma_a^2 \operatorname{mean}(1/m_i)`.

    Examples
    --------
    >>> printed_components([1, 3, 6, 8], ["a", "a", "b", "b"])
    PaperComponents(rater=2.0, item=12.5, noise_ratio=0.16)
    """
    sample = judged_outputs(human, None, items)
    check_repeats(sample)
    rater = float(sample.within.sum()) / (sample.n_judgments - sample.n_outputs)
    item = float(sample.mean.var(ddof=1))
    return PaperComponents(rater, item, rater / item if item > 0 else float("inf"))


def variances(task: PaperTask, *, seed: int, resamples: int = 1000) -> list[PromptVariances]:
    """Return the components under each prompt: of all systems together, then of each."""
    return [
        _variances(task, prompt, system, seed=seed, resamples=resamples)
        for prompt in task.prompts
        for system in ("*", *task.systems, REFERENCE)
        if system == "*" or any(line.system == system for line in task.lines)
    ]


def _variances(
    task: PaperTask, prompt: str, system: str, *, seed: int, resamples: int
) -> PromptVariances:
    lines = task.under(prompt, system)
    released = task.released("gamma", system, prompt)
    rng = np.random.default_rng(seed)
    return PromptVariances(
        task=task.name,
        prompt=prompt,
        system=system,
        printed=COMPONENTS.get((task.name, prompt)) if system == "*" else None,
        released=released
        and PaperComponents(released["sigma2_a"], released["sigma2_f"], released["nu"]),
        reproduced=printed_components(lines.human, lines.line),
        unbiased=variance_components(lines.human, lines.line, resamples=resamples, rng=rng),
        inverse_count=float(np.mean(1 / lines.count)),
    )
