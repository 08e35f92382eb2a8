import numpy as np
import pytest
import statsmodels.api as sm

from steelyard.errors import NotEstimableError
from steelyard.estimate.leniency import estimated_leniency


def judgments(seed=0, *, k=3, n=10, m=2, raters=6, lenient=1.0):
    """Judgments of n outputs of k systems, m of each."""
    rng = np.random.default_rng(seed)
    output = np.repeat(np.arange(k * n), m)
    system = output // n
    rater = np.concatenate([rng.choice(raters, m, replace=False) for _ in range(k * n)])
    human = rng.normal(size=k * n)[output] + lenient * rng.normal(size=raters)[rater]
    human += np.array([0.0, 2.0, -1.0, 5.0])[system] + 0.5 * rng.normal(size=len(output))
    return human, output, rater, system


def dense(leniency):
    """Return M, Z and A of the module's formula, as dense matrices."""
    output, rater, system = leniency.output, leniency.rater, leniency.system
    c = leniency.components
    same = output[:, np.newaxis] == output
    V = np.linalg.inv(np.eye(len(output)) + c.item / c.residual * same)
    X = (system[:, np.newaxis] == np.unique(system)).astype(float)
    M = V - V @ X @ np.linalg.solve(X.T @ V @ X, X.T @ V)
    Z = (rater[:, np.newaxis] == np.arange(rater.max() + 1)).astype(float)
    return M, Z, Z.T @ M @ Z + c.residual / c.leniency * np.eye(Z.shape[1])


def mean_weights(system, number):
    return (system == number) / np.sum(system == number)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_adjusted_weights_equal_the_dense_formula(m):
    human, output, rater, system = judgments(m=m)
    spread = np.array([1.0, 0.5, 3.0])
    leniency = estimated_leniency(human, output, rater, system, spread=spread)
    M, Z, A = dense(leniency)
    share = Z.mean(axis=0)
    b = np.linalg.solve(A, Z.T @ M @ (human / spread[system]))
    for number in range(3):
        w = mean_weights(system, number)
        got = leniency.adjusted(w)
        beyond = leniency.trust * spread[number] * (Z.T @ w - share)
        expected = w - M @ Z @ np.linalg.solve(A, beyond) / spread[system]
        np.testing.assert_allclose(got, expected, atol=1e-10)
        # the same as the estimate less what its raters are more lenient than those of all
        assert got @ human == pytest.approx(w @ human - beyond @ b, abs=1e-10)


def test_raters_in_the_campaigns_own_mix_need_no_adjustment():
    human, output, rater, system = judgments(6, k=1, m=2)
    leniency = estimated_leniency(human, output, rater, system, spread=np.ones(1))
    w = np.full(len(human), 1 / len(human))
    np.testing.assert_allclose(leniency.adjusted(w), w, atol=1e-12)


@pytest.mark.parametrize("m", [1, 2])
def test_trust_is_the_slope_on_leniency_that_other_systems_show(m):
    human, output, rater, system = judgments(m=m, n=40)
    spread = np.array([1.0, 0.5, 3.0])
    leniency = estimated_leniency(human, output, rater, system, spread=spread)
    M, Z, A = dense(leniency)
    scaled = human / spread[system]
    moved = size = 0.0
    for number in range(3):
        own = system == number
        others = (M * ~own) @ scaled
        K = Z[own].T @ M[np.ix_(own, own)] @ Z[own]
        b = np.linalg.solve(A - K, Z.T @ np.where(own, 0, others))
        moved += Z[own] @ b @ M[np.ix_(own, own)] @ scaled[own]
        size += b @ K @ b
    slope = moved / size
    expected = min(slope, 1) * (1 - leniency.components.residual / (size * slope**2))
    assert 0 < expected < 1
    assert leniency.trust == pytest.approx(expected)


def test_leniency_that_is_hardly_known_is_hardly_taken_out():
    # 18 judgments by 6 raters say little of who is lenient, 600 say much.
    def trust(seed, n):
        found = estimated_leniency(*judgments(seed, n=n, m=2, lenient=0.4), spread=np.ones(3))
        return 0.0 if found is None else found.trust

    few, many = (np.mean([trust(seed, n) for seed in range(20)]) for n in (3, 100))
    assert few < 0.5
    assert many > 0.9


def test_raters_who_are_lenient_to_one_system_and_harsh_to_another_are_not_adjusted_for():
    human, output, rater, system = judgments(5, k=2, n=60, m=1, raters=8, lenient=0.0)
    human += np.where(system == 0, 1, -1) * np.linspace(-2, 2, 8)[rater]
    leniency = estimated_leniency(human, output, rater, system, spread=np.ones(2))
    assert leniency is None or leniency.trust == 0


def test_judgments_that_are_all_equal_follow_no_rater():
    human, output, rater, system = judgments(1, m=1, n=40)
    human[system == 1] = 3.0
    leniency = estimated_leniency(human, output, rater, system, spread=np.array([1.0, 0.4, 1.0]))
    assert leniency.trust > 0
    weights = mean_weights(system, 1)
    np.testing.assert_array_equal(leniency.adjusted(weights), weights)
    assert leniency.adjusted(mean_weights(system, 0)) @ human != mean_weights(system, 0) @ human


def test_weights_add_to_one_over_the_own_system_and_to_zero_over_others():
    human, output, rater, system = judgments(1, m=1, n=20)
    leniency = estimated_leniency(human, output, rater, system, spread=np.ones(3))
    got = leniency.adjusted(mean_weights(system, 1))
    np.testing.assert_allclose(np.bincount(system, got), [0, 1, 0], atol=1e-12)


def test_predicted_leniency_equals_that_of_a_mixed_model():
    human, output, rater, system = judgments(2, n=15, m=2)
    leniency = estimated_leniency(human, output, rater, system, spread=np.ones(3))
    X = (system[:, np.newaxis] == np.arange(3)).astype(float)
    whole = np.zeros(len(human))
    formula = {"output": output, "rater": rater}
    matrices = [[(f[:, np.newaxis] == np.unique(f)).astype(float)] for f in formula.values()]
    names = [[[str(i) for i in np.unique(f)]] for f in formula.values()]
    known = sm.regression.mixed_linear_model.VCSpec(list(formula), names, matrices)
    fitted = sm.MixedLM(human, X, whole, exog_re=None, exog_vc=known).fit()
    M, Z, A = dense(leniency)
    b = np.linalg.solve(A, Z.T @ M @ human)
    effects = fitted.random_effects[0.0]
    theirs = np.array([effects[name] for name in effects.index if name.startswith("rater")])
    np.testing.assert_allclose(b, theirs, rtol=1e-3, atol=1e-3)
    assert leniency.variance == pytest.approx(fitted.vcomp[1], rel=1e-3)


def test_raters_who_do_not_differ_have_no_leniency():
    human, output, rater, system = judgments(3, lenient=0.0, m=3)
    human = (
        human
        - np.bincount(rater, human - np.bincount(output, human)[output] / 3)[rater]
        / (np.bincount(rater)[rater])
    )
    assert estimated_leniency(human, output, rater, system, spread=np.ones(3)) is None


def test_leniency_that_is_huge_is_taken_off_whole():
    human, output, rater, system = judgments(4, n=20, m=1, lenient=1e5)
    leniency = estimated_leniency(human, output, rater, system, spread=np.ones(3))
    found = [leniency.adjusted(mean_weights(system, number)) @ human for number in range(3)]
    np.testing.assert_allclose(np.diff(found), [2, -3], atol=1.5)


@pytest.mark.parametrize("one", ["rater", "rater of each system"])
def test_leniency_is_not_told_from_systems_by_one_rater_each(one):
    human, output, _, system = judgments(5)
    rater = 0 * system if one == "rater" else system
    with pytest.raises(NotEstimableError, match="raters"):
        estimated_leniency(human, output, rater, system, spread=np.ones(3))
