"""Variances, against an independent implementation and against the likelihood of full matrices."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from statsmodels.regression.mixed_linear_model import MixedLM

from small_campaigns import campaign, crossed, spelt_out
from steelyard.model.fit import fit
from steelyard.model.reml import variances

# Seeds whose variances are all well above 0: at the edge the other implementation stops early.
INSIDE = [(True, 6), (True, 17), (True, 20), (False, 19), (False, 22), (False, 23)]


def learned(found):
    names = found.system.effects.names
    return dict(zip(names, found.variances.solution.theta, strict=True))


def deviance(z, x, kernels, logs):
    """Twice the negative restricted log likelihood, from full matrices."""
    v = sum(np.exp(one) * kernel for one, kernel in zip(logs, kernels, strict=True))
    inverse = np.linalg.inv(v)
    gram = x.T @ inverse @ x
    p = inverse - inverse @ x @ np.linalg.solve(gram, x.T @ inverse)
    return np.linalg.slogdet(v)[1] + np.linalg.slogdet(gram)[1] + z @ p @ z


def full_kernels(made, names):
    """The covariance of each effect for variance 1, by who shares what."""
    system, item = made.writers.argmax(axis=1)[made.output], made.item[made.output]
    label = {"item": item, "output": made.output, "noise": np.arange(made.n)}
    if made.rater is not None:
        label |= {"rater": made.rater, "taste": made.rater * made.k + system}
    return [1.0 * (label[name][:, None] == label[name]) for name in names]


@pytest.mark.parametrize(("same", "seed"), INSIDE)
def test_variances_without_priors_are_those_of_mixed_lm(same, seed):
    made, _ = crossed(np.random.default_rng(seed), same=same)
    found = fit(made, prior=False)
    got = learned(found)
    assert set(got) == {"rater", "taste", "item", "output", "noise"}
    frame = pd.DataFrame(
        {
            "z": found.system.z,
            "system": made.writers.argmax(axis=1)[made.output],
            "item": made.item[made.output],
            "output": made.output,
            "rater": made.rater,
            "taste": made.rater * 100 + made.writers.argmax(axis=1)[made.output],
            "all": 1,
        }
    )
    parts = {name: f"0 + C({name})" for name in got if name != "noise"}
    model = MixedLM.from_formula("z ~ 0 + C(system)", frame, groups="all", vc_formula=parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of steps that went wide, on the way to what is found
        other = model.fit(reml=True, method=["bfgs", "powell"], maxiter=2000)
    want = dict(zip(model.exog_vc.names, other.vcomp, strict=True)) | {"noise": other.scale}
    assert {name: got[name] for name in want} == pytest.approx(want, rel=1e-3)


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_no_other_variances_are_likelier(same, seed):
    made, _ = crossed(np.random.default_rng(seed), k=3, n=7, times=3, same=same)
    found = fit(made, prior=False)
    got = learned(found)
    kernels = full_kernels(made, got)
    z, x = found.system.z, found.system.means.toarray()

    def loss(logs):
        return deviance(z, x, kernels, np.clip(logs, -25, 5))

    at = loss(np.log(list(got.values())))
    start = np.log(np.maximum(list(got.values()), 0.01))
    best = minimize(loss, start, method="Nelder-Mead", options={"maxiter": 3000, "fatol": 1e-9})
    assert at <= best.fun + 1e-5


def test_the_loss_is_that_of_full_matrices():
    made, _ = crossed(np.random.default_rng(3), k=2, n=5, times=3)
    system = fit(made).system
    kernels = full_kernels(made, system.effects.names)
    logs = [np.linspace(-2, 0.5, len(kernels)), np.linspace(0.3, -1, len(kernels))]
    dense = [deviance(system.z, system.means.toarray(), kernels, one) / 2 for one in logs]
    blocks = [system.solve(np.exp(one)).loss for one in logs]
    assert blocks[0] - blocks[1] == pytest.approx(dense[0] - dense[1], abs=1e-6)


def test_the_gradient_is_the_slope_of_the_loss():
    made, _ = crossed(np.random.default_rng(3), k=3, n=6, p=2)
    system = fit(made).system
    logs = np.linspace(-1.5, 0.2, len(system.effects.names))
    got = system.solve(np.exp(logs), derivatives=True).gradient
    step = 1e-5 * np.eye(len(logs))
    want = [
        (system.solve(np.exp(logs + one)).loss - system.solve(np.exp(logs - one)).loss) / 2e-5
        for one in step
    ]
    assert got == pytest.approx(np.array(want), abs=1e-5)


@pytest.mark.parametrize("prior", [True, False])
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_where_the_search_starts_does_not_matter(prior, factor):
    made, _ = crossed(np.random.default_rng(5), k=3, n=8, p=1)
    system = fit(made).system
    one = variances(system, prior=prior)
    shares = np.geomspace(1, 5, len(one.names))
    again = variances(system, shares * factor, prior=prior)
    assert again.solution.loss == pytest.approx(one.solution.loss, abs=1e-5)
    assert again.solution.theta == pytest.approx(one.solution.theta, rel=2e-3, abs=1e-4)


def test_the_search_ends_where_the_penalised_slope_vanishes():
    made, _ = crossed(np.random.default_rng(6), k=4, n=10, p=3)
    found = fit(made).variances
    at = found.solution
    again = variances(fit(made).system, at.theta)
    assert again.solution.theta == pytest.approx(at.theta, rel=1e-3)


def test_the_projection_leaves_nothing_of_the_means():
    made, _ = crossed(np.random.default_rng(7), k=3, n=6, p=1)
    found = fit(made)
    at = found.variances.solution
    assert at.project(found.system.means.toarray()) == pytest.approx(0.0, abs=1e-6)
    v, _, _ = spelt_out(found)
    # P V P = P
    p = at.project(np.eye(made.n))
    assert p @ v @ p == pytest.approx(p, abs=1e-6)


def test_equal_scores_with_known_ends_keep_the_shares_that_are_expected():
    made = campaign([0] * 4 + [1] * 4, [*range(4), *range(4)], [1.0] * 8)
    theta = learned(fit(made))
    assert sum(theta.values()) == pytest.approx(1.0)
    assert theta["item"] / theta["noise"] == pytest.approx(0.2 / 0.4)
