"""What came out, in a few sentences."""

from collections.abc import Iterator

import numpy as np

from steelyard.numbers import GAMMA, number, percent
from steelyard.paper.reproduction import Reproduction

__all__ = ["summary"]


def summary(found: Reproduction) -> list[str]:
    """Say what a reader in a hurry should know.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    return list(_points(found))


def _points(found: Reproduction) -> Iterator[str]:
    exact = (
        sum(one.released is not None for one in found.correlations)
        + 3 * sum(row.released is not None for row in found.variances)
        + 2 * sum(row.released_human is not None for row in found.bias)
    )
    if exact:
        yield (
            f"What does not rest on chance comes out to rounding: {exact} released correlations, "
            f"variance components and means of the bias study{_printed_tables(found)}."
        )
    if found.differences:
        within = float(np.mean([abs(one.z) < 2 for one in found.differences]))
        yield (
            f"What rests on chance comes out within it: {percent(within)} of {len(found.differences)} "
            "released data efficiencies are within two Monte Carlo errors of ours. The rest are lower "
            "than they should be, for a reason given at the end."
        )
    printed = [row for row in found.variances if row.printed is not None]
    if printed:
        factors = [row.unbiased.noise_ratio.value / row.reproduced.noise_ratio for row in printed]
        yield (
            f"The noise ratio {GAMMA} of table 2 is too small by factors of {min(factors):.1f} to "
            f"{max(factors):.1f}: its item variance contains rater noise."
        )
    best = found.best_limits
    perfect = float(np.median([one.perfect_metric.value for one in best]))
    noiseless = float(np.median([one.noiseless_raters.value for one in best]))
    larger = sum(one.noiseless_raters.value > one.perfect_metric.value for one in best)
    yield (
        "The paper stands mean judgments in for true human scores. That makes a perfect metric look twice "
        "as good as it would be, and noiseless raters half as good: not around 3 and about 1.5, as "
        f"printed, but {number(perfect, 1)} and {number(noiseless, 1)} in the median. Noiseless raters "
        f"would bring more than a perfect metric in {larger} of {len(best)} cases."
    )


def _printed_tables(found: Reproduction) -> str:
    """Name the tables of the paper that come out whole."""
    whole = []
    if found.modes and all(one.counts == one.printed.counts for one in found.modes):
        whole.append("all counts of table 1")
    checked = [row.agrees_with_print for row in found.variances if row.printed is not None]
    if checked and all(checked):
        whole.append("all numbers of table 2")
    return "".join(f", {name}" for name in whole)
