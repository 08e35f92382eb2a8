"""Estimates and comparisons after a spread draw: differences of neighbours as their variance."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from steelyard.arrays import Draw, clustered, judged_outputs, simple_draw, spread_draw
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.differences import Shared, campaign_differences
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.options import Options
from steelyard.estimate.pair_neighbours import PairNeighbours
from steelyard.estimate.residual_squares import leniency_in, residual_squares
from steelyard.estimate.slope import plain_fit

FIXED = Options(raters_as="fixed")


def drawn(scores, place, *, metric=None, raters=None, pool_size=1000):
    """A spread draw of outputs with one judgment each, in the order of the file."""
    sample = judged_outputs(scores, metric, np.arange(len(scores)), raters=raters)
    return sample, spread_draw(sample, np.asarray(place, dtype=float), pool_size)


def dense(fit, draw):
    """The squared differences of neighbours as a matrix in the judgments."""
    n = len(fit.plain)
    columns = np.column_stack([fit.columns, np.ones(n)])
    solver = np.linalg.pinv(columns)
    A = np.eye(n) - columns @ solver
    S = np.zeros((len(draw.neighbours), n))
    for row, (i, j) in enumerate(draw.neighbours):
        S[row, i], S[row, j] = np.sqrt(0.5), -np.sqrt(0.5)
    return S @ A / n


def test_variance_is_that_of_neighbours_and_the_next_but_one():
    # In order 1, 2, 4, 8: squares 1 + 4 + 16 of neighbours, 9 + 36 of the next but one; 66/(2 * 5).
    sample, draw = drawn([4.0, 1.0, 8.0, 2.0], [1.6, 1.1, 1.9, 1.3])
    squares = residual_squares(plain_fit(sample, draw), draw, limited=False)
    assert squares.variance[0] == pytest.approx(6.6)
    found = plain_mean(sample, draw, options=FIXED)
    assert found.standard_error == pytest.approx(np.sqrt(6.6 / 4))
    assert found.method == "spread-mean/student"


def test_worth_freedom_and_leniency_are_those_of_the_matrix():
    rng = np.random.default_rng(0)
    n = 14
    raters = rng.integers(0, 4, n)
    place = np.concatenate([1 + rng.random(9), 2 + rng.random(5)])
    sample, draw = drawn(rng.standard_normal(n), place, raters=raters)
    fit = plain_fit(sample, draw)
    T = dense(fit, draw)
    B = T @ T.T
    squares = residual_squares(fit, draw, limited=False)
    assert squares.variance[0] == pytest.approx(np.sum((T @ sample.mean) ** 2) / np.trace(B))
    assert squares.freedom[0] == pytest.approx(np.trace(B) ** 2 / np.trace(B @ B))
    Z = (sample.rater[:, np.newaxis] == np.arange(4)).astype(float)
    added = np.sum((T @ Z) ** 2) / np.trace(B)
    assert leniency_in(fit, sample, draw, limited=False)[0] == pytest.approx(added)


def test_neighbours_are_of_the_same_wave():
    _, draw = drawn([0.0, 1.0, 10.0, 11.0], [1.2, 1.8, 2.2, 2.8])
    assert {frozenset(pair) for pair in draw.neighbours.tolist()} == {
        frozenset((0, 1)),
        frozenset((2, 3)),
    }


def test_the_only_output_of_a_wave_is_set_beside_another():
    _, draw = drawn([0.0, 1.0, 10.0], [1.2, 1.8, 2.2])
    assert draw.neighbours.tolist() == [[0, 1], [1, 2]]


def test_clusters_make_it_a_simple_draw():
    _, draw = drawn(np.arange(6.0), 1 + np.arange(6) / 7)
    found = clustered(draw, np.array(list("aabbcc")))
    assert found.place is None
    assert not found.simple


def test_places_do_not_change_a_mean_nor_what_a_simple_draw_says():
    scores = np.random.default_rng(1).standard_normal(12)
    sample, draw = drawn(scores, 1 + np.arange(12) / 13)
    simple = plain_mean(sample, simple_draw(sample, 1000), options=FIXED)
    assert plain_mean(sample, draw, options=FIXED).estimate == simple.estimate
    assert isinstance(draw, Draw)
    assert not draw.simple
    assert draw.uniform


def systems(rng, k, n, *, place, size=400):
    items = np.arange(n)
    found = []
    for _ in range(k):
        sample = judged_outputs(rng.standard_normal(n) + items / 5, None, items)
        draw = simple_draw(sample, size) if place is None else spread_draw(sample, place, size)
        found.append(JudgedSystem(sample, draw, np.empty((n, 0)), items, None, None))
    return found


def test_systems_lend_one_another_what_neighbours_show():
    place = 1 + np.arange(20) / 20
    spread = campaign_means(systems(np.random.default_rng(1), 5, 20, place=place), options=FIXED)
    simple = campaign_means(systems(np.random.default_rng(1), 5, 20, place=None), options=FIXED)
    for one, other in zip(spread, simple, strict=True):
        assert one.estimate == other.estimate
        assert one.method == "spread-mean/borrowed"
        # Scores rise along the order by 4 standard deviations, of which neighbours see little.
        assert one.standard_error < 0.8 * other.standard_error


def test_new_outputs_are_not_spread():
    place = 1 + np.arange(20) / 20
    options = Options(raters_as="fixed", target="superpopulation")
    [one, *_] = campaign_means(
        systems(np.random.default_rng(1), 5, 20, place=place, size=20), options=options
    )
    [simple, *_] = campaign_means(
        systems(np.random.default_rng(1), 5, 20, place=None, size=20), options=options
    )
    # Of a pool that is judged as a whole, what is left is how pools differ.
    assert one.standard_error == pytest.approx(simple.standard_error, rel=0.15)


def test_pairs_on_the_same_items_have_the_variance_of_neighbours():
    rng = np.random.default_rng(1)
    place = 1 + rng.random(9)
    a, b = systems(rng, 2, 9, place=place)
    everywhere = Shared(400, 0, (np.ones(9, bool),) * 2)
    [found] = campaign_differences([a, b], [(0, 1)], [everywhere], options=FIXED)
    d = (a.sample.mean - b.sample.mean)[np.argsort(place)]
    squares = np.sum((d[1:] - d[:-1]) ** 2) + np.sum((d[2:] - d[:-2]) ** 2)
    assert found.standard_error == pytest.approx(np.sqrt(squares / (2 * 15) / 9))
    assert found.difference == pytest.approx(d.mean())


def test_items_that_do_not_differ_count_as_zero_between_neighbours():
    rng = np.random.default_rng(1)
    place = 1 + np.arange(8) / 8
    a, b = systems(rng, 2, 8, place=place)
    differs = np.array([1, 1, 0, 1, 1, 0, 1, 1], bool)
    shared = Shared(400, 100, (differs, differs))
    [found] = campaign_differences([a, b], [(0, 1)], [shared], options=FIXED)
    d = a.sample.mean - b.sample.mean
    u = np.where(differs, d - d[differs].mean(), 0.0)
    squares = np.sum((u[1:] - u[:-1]) ** 2) + np.sum((u[2:] - u[:-2]) ** 2)
    expected = 0.75**2 * 8 / (2 * 13 * 6**2) * squares
    assert found.standard_error == pytest.approx(np.sqrt(expected))


def test_systems_on_other_items_are_compared_as_simply_drawn():
    rng = np.random.default_rng(1)
    one, two = systems(rng, 2, 8, place=1 + np.arange(8) / 8)
    shared = Shared(400, 0, (np.ones(8, bool),) * 2)
    mixed = [one, replace(two, items=two.items + 3)]
    [found] = campaign_differences(mixed, [(0, 1)], [shared], options=FIXED)
    simple = [replace(each, draw=simple_draw(each.sample, 400)) for each in mixed]
    [expected] = campaign_differences(simple, [(0, 1)], [shared], options=FIXED)
    assert found.standard_error == expected.standard_error


def test_leniency_between_neighbours_is_that_of_the_matrix():
    rng = np.random.default_rng(2)
    items = np.array([0, 1, 3, 4, 6])
    beside = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [0, 2], [4, 6]])
    near = PairNeighbours.of(beside, items)
    shares = rng.standard_normal((5, 3))
    u = np.zeros((7, 3))
    u[items] = shares - shares.mean(axis=0)
    expected = 7 / (2 * 8 * 25) * np.sum((u[beside[:, 0]] - u[beside[:, 1]]) ** 2)
    assert near.leniency(csr_array(shares)) == pytest.approx(expected)
