import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp

from steelyard.demo.prompts import CORRECT, LENIENCY_VARIANCE, OVERALL, PROMPTS
from steelyard.demo.systems import Defects


def test_scores_match_hand_worked_thresholds():
    np.testing.assert_array_equal(OVERALL.scores([-1.2, -0.9, 0.0, 0.9, 1.2]), [-1, 0, 0, 0, 1])
    np.testing.assert_array_equal(CORRECT.scores([-0.1, 0.1]), [0, 1])


def test_the_human_score_of_a_middling_text_is_the_middle_of_the_scale():
    # Thresholds at -1 and 1 and quality 0: both extreme scores are equally likely.
    assert OVERALL.human_score(0.0) == pytest.approx(0.0)
    assert CORRECT.human_score(0.0) == pytest.approx(0.5)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_human_score_matches_the_probabilities_of_the_levels(prompt):
    edges = [-np.inf, *prompt.thresholds, np.inf]
    levels = prompt.lowest + np.arange(len(edges) - 1)
    for quality in np.linspace(-4, 3, 15):
        probability = np.diff(norm.cdf(edges, loc=quality))
        assert prompt.human_score(quality) == pytest.approx(probability @ levels)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
@pytest.mark.parametrize("quality", [-1.5, 0.3, 1.2])
def test_human_score_is_the_mean_over_random_raters(prompt, quality):
    rng = np.random.default_rng(3)
    leniency = rng.normal(scale=np.sqrt(LENIENCY_VARIANCE), size=100_000)
    noise = rng.normal(scale=np.sqrt(1 - LENIENCY_VARIANCE), size=100_000)
    scores = prompt.scores(quality + leniency + noise)
    assert ttest_1samp(scores, prompt.human_score(quality)).pvalue > 0.001


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
@pytest.mark.parametrize("defect", ["wrong", "missing", "unsupported", "repeated", "broken"])
def test_every_defect_lowers_the_human_score(prompt, defect):
    flawless = prompt.human_score(prompt.quality(Defects()))
    assert prompt.human_score(prompt.quality(Defects(**{defect: 0.5}))) < flawless


def test_quality_matches_a_hand_worked_value():
    # 1.2 - 1.5 * 1 - 0.4 * 0.5 = -0.5
    assert OVERALL.quality(Defects(wrong=1.0, missing=0.5)) == pytest.approx(-0.5)
