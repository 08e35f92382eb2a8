"""Differences over documents cover at their level where those over segments do not."""

import numpy as np
import pytest
from scipy.stats import binomtest

from steelyard.arrays import judged_outputs, simple_draw
from steelyard.estimate import Options
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.differences import Shared, campaign_differences

SEGMENTS = 5


def system(score, items, documents, raters, *, clustered):
    order = np.argsort(items)
    items, documents, raters = items[order], documents[order], raters[order]
    sample = judged_outputs(score[order], None, items, raters=raters)
    return JudgedSystem(
        sample=sample,
        draw=simple_draw(sample, None),
        metric=np.empty((len(items), 0)),
        items=items,
        raters=raters,
        pool=None,
        clusters=documents if clustered else None,
    )


def judged(rng, documents, *, same, lenient):
    """Scores of two systems on segments of documents, which suit one system more than the other."""
    leniency = lenient * rng.standard_normal(10)
    sides = []
    for number in range(2):
        first = 0 if same else number * documents
        document = np.repeat(first + np.arange(documents), SEGMENTS)
        items = first * SEGMENTS + np.arange(documents * SEGMENTS)
        raters = rng.integers(0, 10, len(items))
        suits = rng.standard_normal(2 * documents)[document]
        score = suits + rng.standard_normal(len(items)) + leniency[raters]
        sides.append((score, items, document, raters))
    return sides


def covered(*, clustered, same=True, lenient=0.0, runs=400, documents=12):
    rng = np.random.default_rng(documents)
    options = Options(target="superpopulation", raters_as="random" if lenient else "fixed")
    hits = []
    for _ in range(runs):
        sides = judged(rng, documents, same=same, lenient=lenient)
        systems = [system(*side, clustered=clustered) for side in sides]
        differs = tuple(np.ones(documents * SEGMENTS, dtype=bool) for _ in systems)
        [one] = campaign_differences(systems, [(0, 1)], [Shared(0, 0, differs)], options=options)
        hits.append(one.low <= 0 <= one.high)
    return hits


@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False], ids=["same documents", "different documents"])
@pytest.mark.parametrize("lenient", [0.0, 0.7], ids=["raters alike", "raters differ"])
def test_documents_are_counted_and_not_their_segments(same, lenient):
    hits = covered(clustered=True, same=same, lenient=lenient)
    assert binomtest(sum(hits), len(hits), 0.95).pvalue > 0.005
    without = covered(clustered=False, same=same, lenient=lenient, runs=200)
    assert np.mean(without) < 0.85
