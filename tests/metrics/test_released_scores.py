"""The metrics beside the scores that the paper's authors released for the same answers.

Their ROUGE, BLEU and TER saw words with their case and punctuation marks; their BLEU has two
orders, and leaves out an order without a match. Their METEOR is version 1.5 with a table of
paraphrases, and their VecSim has vectors of its own: these are related to ours, not the same.
docs/methods/metrics.md has the correlations.
"""

import numpy as np
import pytest

from steelyard.metrics import score


@pytest.mark.parametrize(
    ("name", "released", "least"),
    [
        ("rouge-1:13a", "rouge-1", 0.98),
        ("rouge-2:13a", "rouge-2", 0.98),
        ("rouge-l:13a", "rouge-l", 0.98),
        ("bleu:order=2,omit", "bleu", 0.98),
        ("ter", "ter", 0.98),
        ("ter:normalized", "ter", 0.99),
        ("rouge-1", "rouge-1", 0.90),
        ("rouge-2", "rouge-2", 0.88),
        ("rouge-l", "rouge-l", 0.90),
        ("bleu", "bleu", 0.90),
        ("meteor", "meteor", 0.85),
        ("vecsim", "sim", 0.65),
    ],
)
def test_correlates_with_the_released_scores(answers, name, released, least):
    outputs, references, rows = answers
    got = score(outputs, references, metrics=[name])[name]
    assert np.corrcoef(got, [row[released] for row in rows])[0, 1] >= least


@pytest.mark.parametrize(
    ("name", "released", "least"),
    [("bleu:order=2,omit", "bleu", 0.85)],
)
def test_most_scores_are_the_released_ones(answers, name, released, least):
    outputs, references, rows = answers
    got = score(outputs, references, metrics=[name])[name]
    assert np.isclose(got, [row[released] for row in rows], atol=1e-6).mean() > least
