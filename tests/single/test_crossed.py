import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from one_way_anova import one_way
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.crossed import _Design, _Solution, crossed_components
from steelyard.single.judged import judged_outputs


def simulate(
    rng, *, outputs=30, raters=8, judgments=80, item=2.0, leniency=1.0, residual=1.5, covariates=0
):
    output = np.append(np.arange(outputs), rng.integers(0, outputs, size=judgments - outputs))
    share = 1 / np.arange(1, raters + 1)
    rater = rng.choice(raters, size=judgments, p=share / share.sum())
    x = rng.normal(5, 3, size=(judgments, covariates))
    human = (
        10
        + x.sum(axis=1)
        + rng.normal(size=outputs)[output] * np.sqrt(item)
        + rng.normal(size=raters)[rater] * np.sqrt(leniency)
        + rng.normal(size=judgments) * np.sqrt(residual)
    )
    return human, output, rater, x


def components_of(found):
    return np.array([found.item, found.leniency, found.residual])


class Dense:
    """The restricted likelihood with every matrix written out."""

    def __init__(self, human, items, raters, covariates=None):
        self.y = np.asarray(human, dtype=float)
        ones = np.ones((len(self.y), 1))
        self.X = ones if covariates is None else np.column_stack([ones, covariates])
        self.patterns = [
            np.equal.outer(np.asarray(items), np.asarray(items)).astype(float),
            np.equal.outer(np.asarray(raters), np.asarray(raters)).astype(float),
            np.eye(len(self.y)),
        ]

    def parts(self, components):
        V = sum(c * pattern for c, pattern in zip(components, self.patterns, strict=True))
        inverse = np.linalg.inv(V)
        A = self.X.T @ inverse @ self.X
        P = inverse - inverse @ self.X @ np.linalg.solve(A, self.X.T @ inverse)
        return V, inverse, A, P

    def log_likelihood(self, components):
        V, _, A, P = self.parts(components)
        constant = (len(self.y) - self.X.shape[1]) * np.log(2 * np.pi)
        determinants = np.linalg.slogdet(V)[1] + np.linalg.slogdet(A)[1]
        return -0.5 * (constant + determinants + self.y @ P @ self.y)

    def score(self, components):
        P = self.parts(components)[3]
        pull = P @ self.y
        return np.array(
            [-0.5 * (np.trace(P @ pattern) - pull @ pattern @ pull) for pattern in self.patterns]
        )

    def covariance(self, components):
        P = self.parts(components)[3]
        half = [P @ pattern for pattern in self.patterns]
        return np.linalg.inv([[0.5 * np.sum(one * other.T) for other in half] for one in half])


@pytest.mark.parametrize(
    ("outputs", "raters", "judgments", "covariates"),
    [(30, 8, 80, 0), (30, 8, 80, 2), (8, 30, 80, 1), (40, 40, 70, 1)],
)
def test_everything_agrees_with_dense_matrices(outputs, raters, judgments, covariates):
    rng = np.random.default_rng(outputs + covariates)
    human, output, rater, x = simulate(
        rng, outputs=outputs, raters=raters, judgments=judgments, covariates=covariates
    )
    found = crossed_components(human, output, rater, covariates=x if covariates else None)
    dense = Dense(human, output, rater, x)
    components = components_of(found)
    assert (components > 0).all()
    assert dense.score(components) == pytest.approx(0, abs=1e-5)
    assert found.covariance == pytest.approx(dense.covariance(components), rel=1e-8)


def test_no_other_components_are_more_likely():
    from scipy.optimize import minimize

    boundary = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        item, leniency, residual = 10 ** rng.uniform(-2.5, 1.5, size=3)
        human, output, rater, _ = simulate(
            rng, outputs=15, raters=5, judgments=30, item=item, leniency=leniency, residual=residual
        )
        found = crossed_components(human, output, rater)
        dense = Dense(human, output, rater)
        boundary += bool((components_of(found) == 0).any())
        for start in ([-3, 2, 0], [0, 0, 0]):
            other = minimize(
                lambda logs, dense=dense: -dense.log_likelihood(np.exp(logs)),
                np.array(start) + np.log(human.var()),
                method="Nelder-Mead",
                bounds=[(-20, 10)] * 3,
                options={"xatol": 1e-4, "fatol": 1e-8},
            )
            assert dense.log_likelihood(components_of(found)) >= -other.fun - 1e-5
    assert boundary > 0, "some of these data sets should be on the boundary"


def test_a_component_at_zero_satisfies_the_condition_of_a_boundary_maximum():
    human, output, rater, _ = simulate(np.random.default_rng(4), leniency=0.0, judgments=120)
    found = crossed_components(human, output, rater)
    assert found.leniency == 0
    assert "the variance between raters is estimated as 0, its boundary" in found.notes
    item, leniency, residual = Dense(human, output, rater).score(components_of(found))
    assert item == pytest.approx(0, abs=1e-5)
    assert residual == pytest.approx(0, abs=1e-5)
    assert leniency < 0
    assert (np.diag(found.covariance) > 0).all()


def test_matches_statsmodels():
    smf = pytest.importorskip("statsmodels.formula.api")
    from pandas import DataFrame

    human, output, rater, x = simulate(np.random.default_rng(2), covariates=1)
    data = DataFrame({"y": human, "item": output, "rater": rater, "x": x[:, 0], "all": 1})
    model = smf.mixedlm(
        "y ~ x",
        data,
        groups="all",
        re_formula="0",
        vc_formula={"item": "0 + C(item)", "rater": "0 + C(rater)"},
    )
    theirs = model.fit(reml=True)
    ours = crossed_components(human, output, rater, covariates=x)
    assert components_of(ours) == pytest.approx([*theirs.vcomp, theirs.scale], rel=1e-3)


def test_a_complete_table_gives_the_two_way_analysis_of_variance():
    rng = np.random.default_rng(2)
    n, q = 20, 6
    table = rng.normal(size=(n, 1)) + rng.normal(size=(1, q)) + rng.normal(size=(n, q))
    rows, columns, grand = table.mean(axis=1), table.mean(axis=0), table.mean()
    between_rows = q * ((rows - grand) ** 2).sum() / (n - 1)
    between_columns = n * ((columns - grand) ** 2).sum() / (q - 1)
    rest = ((table - rows[:, None] - columns + grand) ** 2).sum() / ((n - 1) * (q - 1))
    found = crossed_components(table.ravel(), np.repeat(np.arange(n), q), np.tile(np.arange(q), n))
    assert components_of(found) == pytest.approx(
        [(between_rows - rest) / q, (between_columns - rest) / n, rest], rel=1e-6
    )
    # Var(MS) = 2 MS^2 / df for independent mean squares.
    error = 2 * rest**2 / ((n - 1) * (q - 1))
    assert found.covariance[2, 2] == pytest.approx(error, rel=1e-6)
    assert found.covariance[0, 0] == pytest.approx(
        (2 * between_rows**2 / (n - 1) + error) / q**2, rel=1e-6
    )


def test_recovers_the_components_of_a_simulation():
    draws = []
    for seed in range(150):
        human, output, rater, _ = simulate(
            np.random.default_rng(seed), outputs=60, raters=12, judgments=150
        )
        draws.append(components_of(crossed_components(human, output, rater)))
    mean = np.mean(draws, axis=0)
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    assert (np.abs(mean - [2.0, 1.0, 1.5]) < 4 * error).all()


def test_one_judgment_an_output_leaves_the_item_variance_in_the_residual():
    rng = np.random.default_rng(4)
    rater = np.repeat(np.arange(10), 8)
    human = rng.normal(size=10)[rater] + rng.normal(size=80)
    found = crossed_components(human, np.arange(80), rater)
    assert not found.item_identified
    assert found.leniency_identified
    assert found.item == 0
    assert (found.covariance[0] == 0).all()
    assert "part of the residual" in found.notes[0]
    between = one_way(judged_outputs(human, None, rater))
    assert found.leniency == pytest.approx(between.item, rel=1e-6)
    assert found.residual == pytest.approx(between.rater, rel=1e-6)


def test_raters_with_one_judgment_each_are_nested_in_outputs():
    rng = np.random.default_rng(4)
    output = np.repeat(np.arange(40), 2)
    human = rng.normal(size=40)[output] + rng.normal(size=80)
    found = crossed_components(human, output, np.arange(80))
    assert not found.leniency_identified
    assert found.item_identified
    assert found.leniency == 0
    assert found.n_raters == 80
    assert "leniency is part of the residual" in found.notes[0]
    plain = one_way(judged_outputs(human, None, output))
    assert found.item == pytest.approx(plain.item, rel=1e-6)
    assert found.residual == pytest.approx(plain.rater, rel=1e-6)


def test_single_judgments_by_single_raters_leave_one_variance():
    human = np.random.default_rng(1).normal(size=30)
    found = crossed_components(human, np.arange(30), np.arange(30))
    assert found.residual == pytest.approx(human.var(ddof=1))
    assert len(found.notes) == 2


def test_raters_who_judge_one_output_several_times_are_nested():
    rng = np.random.default_rng(9)
    rater = np.repeat(np.arange(60), 2)
    output = rater // 3
    human = rng.normal(size=20)[output] + rng.normal(size=60)[rater] + rng.normal(size=120)
    found = crossed_components(human, output, rater)
    assert found.item_identified
    assert found.leniency_identified
    assert Dense(human, output, rater).score(components_of(found)) == pytest.approx(0, abs=1e-5)


def test_groups_that_share_neither_outputs_nor_raters_are_no_obstacle():
    rng = np.random.default_rng(6)
    one = simulate(rng, judgments=60)
    other = simulate(rng, judgments=60)
    human = np.append(one[0], other[0])
    output, rater = np.append(one[1], other[1] + 100), np.append(one[2], other[2] + 100)
    found = crossed_components(human, output, rater)
    assert Dense(human, output, rater).score(components_of(found)) == pytest.approx(0, abs=1e-5)


def test_an_exactly_additive_table_has_no_residual():
    output, rater = np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)
    human = output + 10.0 * rater
    found = crossed_components(human, output, rater)
    assert found.residual < 1e-2
    assert found.item == pytest.approx(3.5, rel=1e-2)
    assert found.leniency == pytest.approx(500 / 3, rel=1e-2)
    assert "the residual variance is estimated as 0, its boundary" in found.notes


samples = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@settings(max_examples=25, deadline=None)
@given(rng=samples, scale=st.floats(0.01, 100), shift=st.floats(-1000, 1000))
def test_an_affine_change_of_scale_scales_components_by_its_square(rng, scale, shift):
    human, output, rater, _ = simulate(rng)
    here = crossed_components(human, output, rater)
    there = crossed_components(scale * human + shift, output, rater)
    close = {"rel": 1e-4, "abs": 1e-5 * scale**2}
    assert components_of(there) == pytest.approx(components_of(here) * scale**2, **close)


@settings(max_examples=25, deadline=None)
@given(rng=samples)
def test_the_order_of_rows_does_not_matter(rng):
    human, output, rater, x = simulate(rng, covariates=1)
    order = rng.permutation(len(human))
    here = crossed_components(human, output, rater, covariates=x)
    there = crossed_components(human[order], output[order], rater[order], covariates=x[order])
    assert components_of(there) == pytest.approx(components_of(here), rel=1e-4, abs=1e-6)


def test_refuses_one_rater_or_one_output():
    with pytest.raises(NotEstimableError, match="`raters` must name at least two raters"):
        crossed_components([1, 2, 3], [1, 1, 2], [1, 1, 1])
    with pytest.raises(NotEstimableError, match="`items` must name at least two outputs"):
        crossed_components([1, 2, 3], [1, 1, 1], [1, 2, 2])


def test_refuses_judgments_that_do_not_vary():
    with pytest.raises(NotEstimableError, match="need judgments that differ"):
        crossed_components([0.1] * 6, [1, 1, 2, 2, 3, 3], [1, 2] * 3)
    x = np.arange(6.0)
    with pytest.raises(NotEstimableError, match="explained by the covariates"):
        crossed_components(3 + 2 * x, [1, 1, 2, 2, 3, 3], [1, 2] * 3, covariates=x)


def test_refuses_outputs_and_raters_that_are_the_same():
    with pytest.raises(NotEstimableError, match="outputs and raters cannot be told apart"):
        crossed_components([1, 2, 4, 3, 6, 8], [1, 1, 2, 2, 3, 3], [7, 7, 8, 8, 9, 9])


def test_refuses_covariates_that_leave_nothing():
    human, output, rater, _ = simulate(np.random.default_rng(1))
    dummies = np.eye(8)[rater][:, np.unique(rater)[1:]]
    with pytest.raises(NotEstimableError, match="fixed effects take up all differences"):
        crossed_components(human, output, rater, covariates=dummies)
    with pytest.raises(NotEstimableError, match="more judgments than fixed effects"):
        crossed_components(
            [1, 2, 4], [1, 1, 2], [1, 2, 2], covariates=np.array([[1.0, 0], [0, 1], [0, 0]])
        )


def test_refuses_bad_covariates():
    human, output, rater, x = simulate(np.random.default_rng(1), covariates=2)
    with pytest.raises(InvalidArgumentError, match="`covariates` must be finite, of shape"):
        crossed_components(human, output, rater, covariates=x[:-1])
    with pytest.raises(InvalidArgumentError, match="constant or collinear column"):
        crossed_components(human, output, rater, covariates=np.column_stack([x, x.sum(axis=1)]))
    with pytest.raises(InvalidArgumentError, match="constant or collinear column"):
        crossed_components(human, output, rater, covariates=np.ones(len(human)))


def test_predicted_leniencies_are_those_of_henderson():
    rng = np.random.default_rng(3)
    output, rater = np.repeat(np.arange(20), 2), rng.integers(0, 5, size=40)
    human = rng.normal(size=20)[output] + rng.normal(size=5)[rater] + rng.normal(size=40)
    found = crossed_components(human, output, rater)
    item, leniency, residual = components_of(found)
    assert (components_of(found) > 0).all()
    Zf, Zr = (np.equal.outer(codes, np.unique(codes)).astype(float) for codes in (output, rater))
    V = item * Zf @ Zf.T + leniency * Zr @ Zr.T + residual * np.eye(40)
    weights = np.linalg.solve(V, np.ones(40))
    left = human - weights @ human / weights.sum()
    assert found.leniencies == pytest.approx(leniency * Zr.T @ np.linalg.solve(V, left))
    swapped = crossed_components(human, rater, output)
    effects = item * Zf.T @ np.linalg.solve(V, left)
    assert swapped.leniencies == pytest.approx(effects, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("ratios", [(0.7, 0.2), (0.0, 0.3), (3.0, 0.0), (0.0, 0.0), (1e4, 1e3)])
def test_likelihood_gradient_and_information_agree_with_dense_matrices(rng, ratios):
    # every level at least once, and some pairs more than once
    absorbed = np.append(np.arange(12), rng.integers(0, 12, size=28))
    kept = np.append(np.arange(5), rng.integers(0, 5, size=35))
    X, y = np.column_stack([np.ones(40), rng.normal(size=40)]), rng.normal(size=40)
    found = _Solution.at(_Design.of(y, X, absorbed, kept), np.array(ratios))
    patterns = [np.eye(12)[absorbed] @ np.eye(12)[absorbed].T, np.eye(5)[kept] @ np.eye(5)[kept].T]
    H = np.eye(40) + ratios[0] * patterns[0] + ratios[1] * patterns[1]
    inverse = np.linalg.inv(H)
    A = X.T @ inverse @ X
    P = inverse - inverse @ X @ np.linalg.solve(A, X.T @ inverse)
    close = {"rel": 1e-6, "abs": 1e-9}
    determinants = np.linalg.slogdet(H)[1] + np.linalg.slogdet(A)[1]
    assert found.log_determinant == pytest.approx(determinants)
    assert found.residual == pytest.approx(y @ P @ y, **close)
    gradient = [
        np.trace(P @ one) - (y @ P @ one @ P @ y) / found.residual_variance for one in patterns
    ]
    assert found.gradient == pytest.approx(np.array(gradient), **close)
    patterns.append(np.eye(40))
    information = [[np.trace(P @ i @ P @ j) for j in patterns] for i in patterns]
    assert found.information == pytest.approx(np.array(information), **close)
