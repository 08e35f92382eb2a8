"""The paper's data efficiencies, with a verdict each."""

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.paper.blocks import Claim
from steelyard.paper.limits import Limits
from steelyard.paper.names import metric_name, prompt_name, system_name
from steelyard.paper.printed import EFFICIENCIES, NOISELESS_RANGE, PERFECT_RANGE
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.trajectories import Followed
from steelyard.report.numbers import number, percent, span

__all__ = ["efficiency_claims", "quoted"]


def quoted(found: Reproduction) -> list[tuple[Followed, Limits, float]]:
    """Return the settings of figure 6 that are there, each with the printed data efficiency."""
    return [
        (one, found.limits_of(row.task, row.prompt, row.system, row.metric), row.value)
        for row in EFFICIENCIES
        if (one := found.setting(row.task, row.prompt, row.system, row.metric)) is not None
    ]


def efficiency_claims(found: Reproduction) -> Iterator[Claim]:
    """Yield the claims of section 5.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    settings = quoted(found)
    for one, _, printed in settings:
        curve = one.trajectory.corrected
        released = "" if one.released is None else f"released {number(one.released**2)}, "
        near = abs(curve.data_efficiency - printed) <= max(3 * curve.monte_carlo_error, 0.03)
        yield Claim(
            "Figure 6",
            f"Data efficiency, {system_name(one.system)}, {prompt_name(one.prompt)}, "
            f"{metric_name(one.metric)}",
            number(printed),
            f"{released}ours {number(curve.data_efficiency)} \N{PLUS-MINUS SIGN} "
            f"{number(curve.monte_carlo_error)}",
            "",
            "near" if near else "differs",
        )
    if settings:
        yield from _limits(settings)
        yield _bottleneck(found)
    yield from _tables(found)


def _limits(settings: Sequence[tuple[Followed, Limits, float]]) -> Iterator[Claim]:
    noiseless = [one.trajectory.noiseless_raters.data_efficiency for one, _, _ in settings]
    perfect = [one.trajectory.perfect_metric.data_efficiency for one, _, _ in settings]
    yield Claim(
        "Section 5",
        "Data efficiency with noiseless raters",
        span(*NOISELESS_RANGE),
        span(min(noiseless), max(noiseless)),
        _range([one.noiseless_raters.value for _, one, _ in settings]),
        "biased",
        "The mean of two or three judgments stands in for a noiseless one and still holds half or a "
        "third of the noise.",
    )
    yield Claim(
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


def _bottleneck(found: Reproduction) -> Claim:
    best = found.best_limits
    printed = sum(one.noiseless_stand_in > one.perfect_stand_in for one in best)
    right = sum(one.noiseless_raters.value > one.perfect_metric.value for one in best)
    typical = [float(np.median([one.perfect_metric.value for one in best]))]
    typical.append(float(np.median([one.noiseless_raters.value for one in best])))
    return Claim(
        "Section 1",
        "A perfect metric would bring about 3, noiseless raters about 1.5",
        "the metric is the larger bottleneck",
        f"noiseless raters bring more in {printed} of {len(best)} cases",
        f"noiseless raters bring more in {right} of {len(best)} cases",
        "biased",
        f"Without stand-ins a perfect metric brings {number(typical[0], 1)} and noiseless raters bring "
        f"{number(typical[1], 1)}, in the median over systems and prompts: rater noise is the larger "
        "bottleneck.",
    )


def _tables(found: Reproduction) -> Iterator[Claim]:
    """Compare the released tables as a whole."""
    for task in found.release.tasks:
        mine = [one for one in found.differences if one.task == task.name]
        if mine:
            within = float(np.mean([abs(one.z) < 2 for one in mine]))
            shift = float(np.mean([np.log(one.released / one.reproduced) for one in mine]))
            yield Claim(
                "Section 5",
                f"Tables of data efficiencies, {task.names.title}, {len(mine)} numbers",
                "released",
                f"{percent(within)} within two Monte Carlo errors",
                "",
                "near" if within > 0.95 else "differs",
                f"Released lengths are on average {100 * abs(shift):.1f}% "
                f"{'smaller' if shift < 0 else 'larger'} than ours, relative to the plain mean's.",
            )
