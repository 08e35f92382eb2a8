"""Intervals of the model hold as often as they say, in simulated campaigns whose truth is known."""

from itertools import combinations

import numpy as np
import pytest
from benchmarks.campaigns.direct import record
from benchmarks.campaigns.worlds import Cell
from scipy.stats import binom

from steelyard.model.fit import fit
from steelyard.model.intervals import intervals
from steelyard.model.simultaneous import together

REPS = 120

CELLS = [
    Cell("normal", k=4, n=20),
    Cell("normal", k=4, n=20, same=False),
    Cell("useless", k=4, n=20, p=12),
    Cell("spreads", k=4, n=20),
    Cell("shares-middle", k=4, n=20),
    Cell("shares-ceiling", k=4, n=20),
    Cell("copies", k=3, n=20),
    Cell("version-normal", k=3, n=20),
]
EQUAL = [Cell("normal", k=4, n=20, equal=True), Cell("no-taste", k=4, n=20, p=1)]


def answers(cell):
    """For each campaign: which means and differences their intervals hold, and which pairs are decided."""
    pairs = np.array(
        [np.eye(cell.k)[a] - np.eye(cell.k)[b] for a, b in combinations(range(cell.k), 2)]
    )
    for run in range(REPS):
        world = cell.campaign(run)
        found = fit(record(world))
        given = found.answers()
        held = []
        for forms in (np.eye(cell.k), pairs):
            got = intervals(found, given, forms)
            truth = forms @ world.truth
            held.append(((got.low <= truth) & (truth <= got.high)).mean())
        yield (*held, together(found, given, pairs).decided.any())


def too_few(held, share, forms):
    """Whether so few hold that chance hardly explains it; intervals of one campaign count as half of them."""
    n = REPS * max(forms // 2, 1)
    return binom.cdf(round(float(np.mean(held)) * n), n, share) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_intervals_hold_as_often_as_they_say(cell):
    means, differences, _ = zip(*answers(cell), strict=True)
    # 94 to 97% are asked for, and simulated truth is the pool's
    assert not too_few(means, 0.94, cell.k)
    assert not too_few(differences, 0.94, cell.k)


@pytest.mark.slow
@pytest.mark.parametrize("cell", EQUAL, ids=lambda cell: cell.name)
def test_equal_systems_are_seldom_told_apart(cell):
    claims = sum(decided for *_, decided in answers(cell))
    assert binom.sf(claims - 1, REPS, 0.05) > 1e-3
