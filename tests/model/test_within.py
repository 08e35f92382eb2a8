"""Sums over groups, and weights kept as a few parts, against plain arrays."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from small_campaigns import crossed
from steelyard.model.blocks import Blocks, Groups
from steelyard.model.fit import fit
from steelyard.model.within import Dense, Nested


def test_groups_within_groups_are_inverted_as_any_covariance_is():
    rng = np.random.default_rng(5)
    cluster = rng.integers(3, size=40)
    item = cluster * 4 + rng.integers(4, size=40)
    output = item * 3 + rng.integers(3, size=40)
    labels = [np.unique(one, return_inverse=True)[1] for one in (cluster, item, output)]
    u = csr_array(rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.4))
    blocks = Blocks.of(labels[0])
    kernels = [
        blocks.kernel(lambda a, b, one=one: one[a] == one[b]) for one in (*labels, np.arange(40))
    ]
    theta, vectors = np.array([0.3, 0.7, 0.2, 0.5]), rng.normal(size=(40, 2))
    nested = Nested(u, [Groups(one) for one in labels]).at(theta)
    dense = Dense(u, blocks, kernels).at(theta)
    assert nested.log == pytest.approx(dense.log)
    m_inverse = np.linalg.inv(nested.gram() + np.eye(6))
    assert nested.slopes(m_inverse) == pytest.approx(dense.slopes(m_inverse))
    index = blocks.index[0]
    for got, want in (
        (nested.times(vectors), dense.times(vectors)),
        (nested.gram(), dense.gram()),
        (nested.matrix().toarray(), dense.matrix().toarray()),
        (nested.diagonal(), dense.diagonal()),
        (nested.inside(index), dense.inside(index)),
        (nested.rows(index[0]), dense.rows(index[0])),
    ):
        np.testing.assert_allclose(got, want, atol=1e-12)


def test_weights_of_many_systems_are_those_of_plain_arrays():
    made, _ = crossed(np.random.default_rng(2), k=40, n=6, raters=3, same=False)
    found = fit(made, without=frozenset({"item", "taste"}))
    at, system, asked = found.variances.solution, found.system, found.targets
    assert found.weights.coefficients is not None
    of_kernels = at.theta[len(system.slices) :]
    local = sum(v * one.toarray() for v, one in zip(of_kernels, asked.kernels, strict=True))
    target = asked.all_columns.copy()
    target[system.q :] *= found.unit
    inside = at.within.times(local)
    off = target - system.u.T @ inside
    want = inside + at.within.times(system.u @ (at.m_inverse @ off))
    weights, values = found.weights, np.random.default_rng(1).normal(size=(made.n, 2))
    np.testing.assert_allclose(weights.dense(), want, atol=1e-12)
    np.testing.assert_allclose(np.concatenate(list(weights.parts())), want, atol=1e-12)
    np.testing.assert_allclose(weights.gram(), want.T @ want, atol=1e-12)
    np.testing.assert_allclose(weights.onto(values), want.T @ values, atol=1e-12)
    np.testing.assert_allclose(weights.onto(csr_array(values)), want.T @ values, atol=1e-12)
    sums = system.effects.blocks.groups.members
    np.testing.assert_allclose(weights.through(sums).dense(), sums @ want, atol=1e-12)


def test_judgments_of_several_systems_are_weighed_by_plain_arrays():
    # three systems, one of which shares its texts: with few columns, but their means are not apart
    made, _ = crossed(np.random.default_rng(3), k=5, n=6, raters=1, times=1, same=False)
    shared = made.writers.copy()
    shared[shared[:, 0] == 1] = [0.5, 0.5, 0, 0, 0]
    found = fit(replace(made, writers=shared), without=frozenset({"item"}))
    assert found.weights.coefficients is None
