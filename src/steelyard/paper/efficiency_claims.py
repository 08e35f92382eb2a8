"""The paper's data efficiencies, with a verdict each."""

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.numbers import number, percent, span
from steelyard.paper.blocks import PaperClaim
from steelyard.paper.limits import EfficiencyLimits
from steelyard.paper.names import metric_name, prompt_name, system_name
from steelyard.paper.printed import EFFICIENCIES, NOISELESS_RANGE, PERFECT_RANGE
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.trajectories import Followed

__all__ = ["efficiency_claims", "quoted"]


def quoted(found: Reproduction) -> list[tuple[Followed, EfficiencyLimits, float]]:
    """Return the settings of figure 6 that are there, each with the printed data efficiency."""
    return [
        (one, found.limits_of(row), row.value)
        for row in EFFICIENCIES
        if (one := found.followed_of(row)) is not None
    ]


def efficiency_claims(found: Reproduction) -> Iterator[PaperClaim]:
    """Yield the claims of section 5.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    settings = quoted(found)
    for one, _, printed in settings:
        curve = one.trajectory.corrected
        released = "" if one.released is None else f"released {number(one.released**2)}\n"
        near = abs(curve.data_efficiency - printed) <= max(3 * curve.monte_carlo_error, 0.03)
        yield PaperClaim(
            "Figure 6",
            f"Data efficiency, {system_name(one.system)}, {prompt_name(one.prompt)}, "
            f"{metric_name(one.metric)}",
            number(printed),
            f"{released}ours {number(curve.data_efficiency)} \N{PLUS-MINUS SIGN} "
            f"{number(curve.monte_carlo_error)}",
            _by_formula(found, one),
            "near" if near else "differs",
        )
    if settings:
        yield from _limits(settings)
        yield _bottleneck(found)
    yield from _tables(found)


def _by_formula(found: Reproduction, one: Followed) -> str:
    """Return the data efficiency that unbiased noise ratio and correlation come to."""
    row = found.correlation_of(one)
    if row is None:
        return ""
    right = row.data_efficiency
    return f"{number(right.value)}\n{span(right.low, right.high)}"


def _limits(settings: Sequence[tuple[Followed, EfficiencyLimits, float]]) -> Iterator[PaperClaim]:
    noiseless = [one.trajectory.noiseless_raters.data_efficiency for one, _, _ in settings]
    perfect = [one.trajectory.perfect_metric.data_efficiency for one, _, _ in settings]
    yield PaperClaim(
        "Section 5",
        "Data efficiency with noiseless raters",
        span(*NOISELESS_RANGE),
        span(min(noiseless), max(noiseless)),
        _range([one.noiseless_raters.value for _, one, _ in settings]),
        "biased",
        "The mean of two or three judgments stands in for a noiseless one and still holds half or a "
        "third of the noise.",
    )
    yield PaperClaim(
        "Section 5",
        "Data efficiency with a perfect metric",
        span(*PERFECT_RANGE),
        span(min(perfect), max(perfect)),
        _range([one.perfect_metric.value for _, one, _ in settings]),
        "biased",
        "The stand-in for a perfect metric contains the judgment that it predicts: with two judgments "
        "an output that doubles the data efficiency.",
    )


def _range(values: Sequence[float]) -> str:
    return span(min(values), max(values))


def _bottleneck(found: Reproduction) -> PaperClaim:
    best = found.best_limits
    typical = {
        name: float(np.median([getattr(one, name) for one in best]))
        for name in ("perfect_stand_in", "noiseless_stand_in")
    }
    perfect = float(np.median([one.perfect_metric.value for one in best]))
    noiseless = float(np.median([one.noiseless_raters.value for one in best]))
    printed = sum(one.noiseless_stand_in > one.perfect_stand_in for one in best)
    right = sum(one.noiseless_raters.value > one.perfect_metric.value for one in best)
    return PaperClaim(
        "Section 1",
        "Data efficiency with a perfect metric, and with noiseless raters",
        "around 3\nabout 1.5",
        f"{number(typical['perfect_stand_in'], 1)}\n{number(typical['noiseless_stand_in'], 1)}",
        f"{number(perfect, 1)}\n{number(noiseless, 1)}",
        "biased",
        "Medians over systems and prompts, each with its best metric. With the stand-ins, noiseless "
        f"raters bring more than a perfect metric in {printed} of {len(best)} cases; without them, in "
        f"{right}.",
    )


def _tables(found: Reproduction) -> Iterator[PaperClaim]:
    """Compare the released tables as a whole."""
    for task in found.release.tasks:
        mine = [one for one in found.differences if one.task == task.name]
        if mine:
            within = float(np.mean([abs(one.z) < 2 for one in mine]))
            shift = float(np.mean([np.log(one.released / one.reproduced) for one in mine]))
            yield PaperClaim(
                "Section 5",
                f"Tables of data efficiencies, {task.names.title}, {len(mine)} numbers",
                "released",
                f"{percent(within)} within two Monte Carlo errors",
                "",
                "near" if within > 0.95 else "differs",
                f"Released ratios of lengths are on average {100 * abs(shift):.1f}% "
                f"{'smaller' if shift < 0 else 'larger'} than ours.",
            )
