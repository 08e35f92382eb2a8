import numpy as np
import pytest

from steelyard.variance.absorption import crossed_design, solve


@pytest.fixture
def design(rng):
    # Every level at least once, and some pairs more than once.
    absorbed = np.append(np.arange(12), rng.integers(0, 12, size=28))
    kept = np.append(np.arange(5), rng.integers(0, 5, size=35))
    rows = np.column_stack([np.ones(40), rng.normal(size=(40, 2))])
    return crossed_design(rows, absorbed, kept)


def covariance(design, ratios):
    a, k = np.eye(12)[design.absorbed], np.eye(5)[design.kept]
    return a, k, np.eye(40) + ratios[0] * a @ a.T + ratios[1] * k @ k.T


@pytest.mark.parametrize("ratios", [(0.7, 0.2), (0.0, 0.3), (3.0, 0.0), (0.0, 0.0), (1e4, 1e3)])
def test_likelihood_gradient_and_information_agree_with_dense_matrices(design, ratios):
    ratios = np.array(ratios)
    found = solve(design, ratios)
    a, k, H = covariance(design, ratios)
    inverse, X, y = np.linalg.inv(H), design.rows[:, :-1], design.rows[:, -1]
    A = X.T @ inverse @ X
    P = inverse - inverse @ X @ np.linalg.solve(A, X.T @ inverse)
    patterns = [a @ a.T, k @ k.T, np.eye(40)]
    close = {"rel": 1e-6, "abs": 1e-9}
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(H)[1])
    assert found.residual == pytest.approx(y @ P @ y, **close)
    expected = [
        np.trace(P @ pattern) - (y @ P @ pattern @ P @ y) / found.residual_variance
        for pattern in patterns[:2]
    ]
    assert found.gradient == pytest.approx(np.array(expected), **close)
    information = [[np.trace(P @ i @ P @ j) for j in patterns] for i in patterns]
    assert found.information == pytest.approx(np.array(information), **close)


def test_the_gradient_is_the_slope_of_the_deviance(design):
    ratios, step = np.array([0.7, 0.2]), 1e-5
    slope = [
        (solve(design, ratios + shift).deviance - solve(design, ratios - shift).deviance)
        / (2 * step)
        for shift in step * np.eye(2)
    ]
    assert solve(design, ratios).gradient == pytest.approx(np.array(slope), rel=1e-5)


def test_weights_are_those_of_generalised_least_squares(design):
    ratios = np.array([0.7, 0.2])
    inverse = np.linalg.inv(covariance(design, ratios)[2])
    X = design.rows[:, :-1]
    expected = inverse @ X @ np.linalg.inv(X.T @ inverse @ X) @ [1.0, 0.5]
    assert solve(design, ratios).weights(np.array([1.0, 0.5])) == pytest.approx(expected)
