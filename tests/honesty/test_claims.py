"""What the page of benchmarks says of the default still comes out, replay by replay.

The draws of a replay depend on its seed alone, so the same code gives the recorded figures again, and small samples show
a change of a few percent that no count of misses could. Who changes the default on purpose makes the results anew:
``python -m benchmarks honesty``.
"""

import numpy as np
import pytest
from benchmarks.honesty import decisions
from benchmarks.honesty.drawn_cases import Answers, replays
from benchmarks.honesty.kinds import KINDS
from benchmarks.honesty.ours import plain_t, study
from benchmarks.honesty.results import FILE, Results
from benchmarks.honesty.summary import DEFAULT

RESULTS = Results(FILE)
KIND = {kind.name: kind for kind in KINDS}
# Relative difference of widths and costs, and difference of coverage, that rounding and small repairs may make.
WIDTH, COST, COVERAGE = 0.03, 0.05, 0.03
CELLS = (("normal", 20), ("binary", 20), ("ten raters", 10))


def recorded(part, cell, n):
    [found] = [
        one
        for one in RESULTS.of(part)
        if (one["cell"], one["n"], one["who"]) == (cell, n, "steelyard")
    ]
    return found


def changed(fresh, before):
    """What is not as it was recorded."""
    apart = {
        "width_ratio": abs(fresh["width_ratio"] / before["width_ratio"] - 1) > WIDTH,
        "cost": abs(fresh["cost"] / before["cost"] - 1) > COST,
        "coverage": abs(fresh["coverage"] - before["coverage"]) > COVERAGE,
    }
    return [name for name, other in apart.items() if other]


@pytest.mark.parametrize(("cell", "n"), CELLS)
def test_the_default_is_as_wide_honest_and_cheap_as_recorded(cell, n):
    record = recorded("means", cell, n)
    draws = list(replays(KIND[cell], n, record["runs"]))
    plain = Answers.of(draws, np.array([[plain_t(one) for one in draw] for draw in draws]))
    ends = np.array(
        [[(one.estimate, one.low, one.high) for one in study(draw).estimate()] for draw in draws]
    )
    before = record["ways"][DEFAULT]
    assert changed(Answers.of(draws, ends).counted(plain), before) == []
    # and a tenth less of the width would be seen
    middle = ends[..., :1]
    short = np.concatenate([middle, middle + 0.9 * (ends[..., 1:] - middle)], axis=-1)
    assert "width_ratio" in changed(Answers.of(draws, short).counted(plain), before)


def test_a_comparison_is_as_wide_and_as_seldom_wrong_as_recorded():
    [contest] = [one for one in decisions.CONTESTS if one.name == "five, normal: equal"]
    record = recorded("decisions", contest.name, 20)
    draws = list(decisions.replays(contest, 20, record["runs"]))
    truth = np.array([[one.system.truth for one in draw] for draw in draws])
    wide = decisions.width(np.array([decisions.bonferroni_t(draw) for draw in draws]))
    found = np.array([decisions.compare(draw) for draw in draws], dtype=float)
    fresh, before = decisions.counted(found, truth, wide), record["ways"]["steelyard compare"]
    assert fresh["width_ratio"] == pytest.approx(before["width_ratio"], rel=WIDTH)
    assert fresh["wrong_claims"] <= max(0.1, before["wrong_claims"])
