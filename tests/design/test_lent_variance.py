import numpy as np
import pytest

from steelyard.design.later_sample import Luck, fallen_out
from steelyard.design.lent_variance import lent_variance
from steelyard.estimate.borrowed import borrowed_spread


def test_an_imagined_campaign_is_moderated_as_estimate_moderates_it():
    luck, freedom, k = Luck.of(200), 60.0, 6
    rng = np.random.default_rng(1)
    others = np.exp(0.3 * rng.normal(size=(200, k - 1)))
    found = lent_variance(others, luck, systems=k, actual=freedom, counted=freedom)
    own = fallen_out(luck.outputs, freedom)
    for draw in range(200):
        seen = np.append(own[draw], others[draw] * fallen_out(luck.others[draw, : k - 1], freedom))
        lent = borrowed_spread(seen, np.full(k, freedom))
        variance, known = lent.moderated(seen[0], freedom)
        assert found.shown[draw] == pytest.approx(variance, rel=0.01)
        assert found.freedom[draw] == pytest.approx(known, rel=0.01)
        assert found.own[draw] == pytest.approx(freedom / known, rel=0.01)


def test_systems_that_are_alike_make_a_variance_vary_less():
    luck = Luck.of(1000)
    alone = fallen_out(luck.outputs, 100.0)
    alike = lent_variance(None, luck, systems=5, actual=100.0, counted=100.0).shown
    assert np.std(np.log(alike)) < 0.7 * np.std(np.log(alone))
    assert np.mean(alike) == pytest.approx(1, abs=0.02)
    # Those that differ much lend next to nothing.
    others = np.tile([0.1, 10.0, 0.01, 100.0], (1000, 1))
    apart = lent_variance(others, luck, systems=5, actual=100.0, counted=100.0)
    assert np.corrcoef(apart.shown, alone)[0, 1] > 0.999
    assert apart.own.min() > 0.97


def test_what_is_to_be_expected_has_the_degrees_of_freedom_of_all():
    alike = lent_variance(None, None, systems=5, actual=100.0, counted=100.0)
    assert (alike.shown, alike.freedom, alike.own) == (1.0, 600.0, pytest.approx(1 / 6))
    # Logarithms of variance 0.09 go with 1 + 2 / 0.09 degrees of freedom of what is lent.
    others = np.exp([0.3, -0.3, 0.3, -0.3])
    apart = lent_variance(others, None, systems=5, actual=100.0, counted=100.0)
    assert apart.freedom == pytest.approx(101 + 2 / 0.09)
