import numpy as np
import pytest

from steelyard.arrays import resampled_sums, resampling


def test_sums_count_every_draw():
    got = resampled_sums(np.ones((7, 1)), resamples=11, rng=np.random.default_rng(0))
    assert got.ravel().tolist() == [7] * 11


def test_sums_have_the_mean_and_variance_of_draws_with_replacement():
    values = np.array([0.0, 1, 5, 10])
    got = resampled_sums(values[:, None], resamples=200_000, rng=np.random.default_rng(1))[:, 0]
    assert got.mean() == pytest.approx(4 * values.mean(), abs=0.1)
    assert got.var() == pytest.approx(4 * values.var(), rel=0.02)


def test_blocks_do_not_change_the_draws(monkeypatch):
    features = np.random.default_rng(2).normal(size=(10, 3))
    whole = resampled_sums(features, resamples=50, rng=np.random.default_rng(4))
    monkeypatch.setattr(resampling, "_BLOCK", 35)
    parts = resampled_sums(features, resamples=50, rng=np.random.default_rng(4))
    assert parts == pytest.approx(whole)
