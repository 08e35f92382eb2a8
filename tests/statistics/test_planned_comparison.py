"""A plan for a comparison promises the half-width that `compare` then prints."""

from dataclasses import replace

import numpy as np
import pytest
from paired_worlds import Pairs, half_width

from steelyard import Study
from steelyard.design import Assumptions, Pair, PlannedRaters, plan
from steelyard.study.sampling import sample
from steelyard.tables import read_outputs
from steelyard.variance import Quantity

SETTINGS = [
    (Pairs(), 0.25, {"judgments_per_output": 1}),
    (Pairs(identical=0.5), 0.1, {}),
    (Pairs(metric=0.7), 0.25, {"judgments_per_output": 1}),
    (Pairs(metric=0.9, identical=0.5), 0.12, {"judgments_per_output": 2}),
    (Pairs(leniency=0.7), 0.25, {"judgments_per_output": 1}),
    (Pairs(leniency=0.7, raters=6), 0.25, {"judgments_per_output": 1}),
    (Pairs(leniency=0.7, identical=0.5, metric=0.7), 0.1, {}),
    (Pairs(leniency=0.7, identical=0.5, metric=0.7, same_rater=True), 0.1, {}),
]


def drawn(outputs, n, rng):
    return sample(read_outputs(outputs), n, pair=("A", "B"), seed=int(rng.integers(2**31))).frame


def collected(kind, outputs, case, rng):
    """Judge what a case of a plan asks for."""
    return kind.judged(
        drawn(outputs, case.pairs, rng),
        rng,
        each=case.judgments_per_output,
        second=case.second_judgments // 2,
    )


@pytest.mark.parametrize(("kind", "goal", "options"), SETTINGS[1::2], ids=str)
def test_compare_prints_the_half_width_of_a_plan_from_known_variances(kind, goal, options):
    rng = np.random.default_rng(5)
    m, b = kind.metric, kind.leniency**2
    # Differences of scores vary by 1, of metrics by m^2 + 2 (1 - m^2), and of both together by m.
    explained = m**2 / (m**2 + 2 * (1 - m**2))
    apart = 0.0 if kind.same_rater else 1.0
    raters = PlannedRaters(number=kind.raters, rest=1 + kind.noise, apart=apart)
    assumed = Assumptions.typed(1.0, 2 * kind.noise + 2 * b * apart, np.sqrt(explained))
    made = plan(
        replace(assumed, leniency=Quantity(b, b, b)),
        half_width=goal,
        pool_size=kind.size,
        n_metrics=int(m > 0),
        paired=Pair(identical=kind.identical, raters=raters),
        **options,
    ).expected
    ratios = []
    for _ in range(16):
        outputs = kind.outputs(rng)
        judgments = collected(kind, outputs, made, rng)
        ratios.append(half_width(outputs, judgments) / made.half_width)
    assert made.half_width <= goal
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "goal", "options"), SETTINGS, ids=str)
def test_compare_prints_the_half_width_of_a_plan_from_a_pilot(kind, goal, options):
    rng = np.random.default_rng(6)
    ratios = []
    # The mean of so many is uncertain by less than 0.02.
    for _ in range(50):
        outputs = kind.outputs(rng)
        judgments = kind.judged(drawn(outputs, 150, rng), rng, each=2)
        pilot = Study.read(outputs.drop("true"), judgments)
        made = pilot.plan(compare=("A", "B"), half_width=goal, **options).expected
        judgments = collected(kind, outputs, made, rng)
        ratios.append(half_width(outputs, judgments) / made.half_width)
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)
