import numpy as np
import pytest
from scipy.stats import beta, kurtosis, skew

from steelyard.design.pilot import Pilot
from steelyard.design.pilot_draws import pilot_draws


def pilot_of(scores, *, system=None, **known):
    """Return the pilot of scores (n, m): m judgments of each output."""
    n, m = scores.shape
    mean = scores.mean(axis=1)
    values = np.unique(scores)
    return Pilot(
        mean=mean,
        within=((scores - mean[:, np.newaxis]) ** 2).sum(axis=1),
        count=np.full(n, m),
        system=np.zeros(n, dtype=np.int64) if system is None else system,
        control=np.zeros(n),
        scores=len(values),
        ends=(values[0], values[-1]),
        **known,
    )


def test_skewness_and_tails_are_those_of_single_judgments():
    rng = np.random.default_rng(0)
    scores = rng.exponential(size=(2000, 1)) + 0.3 * rng.normal(size=(2000, 2))
    pilot = pilot_of(scores)
    assert pilot.skewness == pytest.approx(skew(scores.ravel()), rel=1e-3)
    # Imagined outputs have a weight of 30 in 2,030.
    assert pilot.tails == pytest.approx(kurtosis(scores.ravel()), rel=0.1)


def test_half_ones_have_the_shortest_tails_there_are():
    assert pilot_of(np.tile([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]], (8, 1))).tails == pytest.approx(
        -2, abs=1e-9
    )


def test_two_scores_have_the_variance_of_their_share():
    # 60 outputs judged once or twice alike: judgments of one output are one, and p is Beta(12.5, 48.5).
    scores = np.repeat((np.arange(60) < 12).astype(float), 2).reshape(60, 2)
    drawn = pilot_draws(pilot_of(scores))
    total = drawn.item + drawn.rater
    p = beta(12.5, 48.5)
    expected = p.expect(lambda x: x * (1 - x)) * (1 + 2 / 60)
    assert np.mean(total) == pytest.approx(expected, rel=0.01)
    assert np.max(total) <= 0.25
    # The scale does not matter.
    twice = pilot_draws(pilot_of(2 * scores - 7))
    assert np.allclose(twice.item + twice.rater, 4 * total)


def test_systems_that_look_alike_are_taken_to_be_more_alike_than_chance_makes_them_look():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(200, 2))
    system = np.repeat(np.arange(5), 40)
    alike = pilot_draws(pilot_of(scores, system=system)).others
    scale = np.array([0.5, 0.7, 1.0, 1.4, 2.0])[system][:, np.newaxis]
    apart = pilot_draws(pilot_of(scale * scores, system=system)).others
    seen = np.log([scores[system == one].mean(axis=1).var(ddof=1) for one in range(5)])
    assert np.log(alike).std() < seen.std() * np.sqrt(2)
    assert np.log(apart).std() == pytest.approx(np.sqrt(2.5) * 0.98, rel=0.2)


@pytest.mark.parametrize("new", [0.0, 1.0])
def test_the_leniency_of_raters_who_go_on_is_known_better_than_that_of_others(new):
    scores = np.random.default_rng(3).normal(size=(100, 2))
    options = {"leniency": 0.2, "leniency_error": 0.2 * np.sqrt(2 / 199) * 1.1, "raters": 200}
    drawn = pilot_draws(pilot_of(scores, new_raters=new, **options)).leniency
    # The mean square is 0.22, a tenth of it noise: 2 (0.02^2 + 2 * 0.02 * 0.2 + new * 0.2^2) / 199.
    error = np.sqrt(2 * (0.02**2 + 0.008 + new * 0.04) / 199)
    assert np.std(drawn) == pytest.approx(error, rel=0.15)
    assert np.median(drawn) == pytest.approx(0.2, rel=0.05)
