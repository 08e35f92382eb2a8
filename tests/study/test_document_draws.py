"""Whole documents drawn at random: the mean over segments, and the interval that counts documents."""

import numpy as np
from scipy.stats import binomtest

from steelyard.estimate import sample_mean

DOCUMENTS, DRAWN, RUNS = 80, 20, 300


def campaigns():
    """A pool of documents of unequal sizes, and the segments of documents drawn from it."""
    rng = np.random.default_rng(7)
    sizes = rng.integers(2, 9, DOCUMENTS)
    document = np.repeat(np.arange(DOCUMENTS), sizes)
    # longer documents are worse, segments of one are alike
    score = rng.normal(-0.1 * sizes, 1.0)[document] + rng.normal(0, 0.7, len(document))
    for _ in range(RUNS):
        chosen = np.isin(document, rng.choice(DOCUMENTS, DRAWN, replace=False))
        yield score.mean(), len(score), score[chosen], document[chosen]


def test_intervals_that_count_documents_cover_and_others_do_not():
    covered, apart, errors = 0, 0, []
    for truth, size, score, document in campaigns():
        items = np.arange(len(score))
        found = sample_mean(score, items=items, clusters=document, pool_size=size)
        covered += found.low <= truth <= found.high
        alone = sample_mean(score, items=items, pool_size=size)
        apart += alone.low <= truth <= alone.high
        errors.append(found.estimate - truth)
    assert binomtest(covered, RUNS, 0.95).pvalue > 0.001 or covered / RUNS > 0.95, covered
    assert apart / RUNS < 0.85, apart
    # the bias of a ratio is small beside its error
    assert abs(np.mean(errors)) < 0.2 * np.std(errors)
