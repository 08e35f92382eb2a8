import numpy as np
import pytest
from scipy import stats

from steelyard.estimate.learned import _candidates, _folds, _pair_scales, learned_control

EXPLAINED = (0.03, 0.1, 0.2, 0.35, 0.5)


def campaign(seed, *, k=3, n=12, p=4, shared=True, rho=0.6):
    """Judged outputs of k systems: scores, metrics around zero, systems and items."""
    rng = np.random.default_rng(seed)
    items = np.tile(np.arange(n), k) if shared else np.arange(n * k)
    score = rng.normal(size=n * k)
    x = rho * score[:, np.newaxis] + rng.normal(size=(n * k, p))
    return {
        "scores": score + rng.normal(size=n * k),
        "metrics": x,
        "systems": np.repeat(np.arange(k), n),
        "items": items,
    }


def learned(data, spread=None, pool_sizes=None, **options):
    k = data["systems"].max() + 1
    return learned_control(
        data["scores"],
        data["metrics"],
        systems=data["systems"],
        items=data["items"],
        spread=np.ones(k) if spread is None else spread,
        pool_sizes=np.full(k, np.inf) if pool_sizes is None else pool_sizes,
        **options,
    )


def brute(data, spread, pool_sizes):  # noqa: C901  (the steps in their order)
    """The algorithm as written down, by explicit loops and without any downdating."""
    s, x = data["systems"], data["metrics"]
    y = data["scores"] / spread[s]
    n, p = x.shape
    k = len(spread)
    distinct = list(np.unique(data["items"]))
    fold = np.array([distinct.index(i) % min(len(distinct), 20) for i in data["items"]])
    F = fold.max() + 1

    def within(values, rows):
        out = np.array(values[rows], dtype=float)
        for one in range(k):
            inside = s[rows] == one
            if inside.any():
                out[inside] -= out[inside].mean(axis=0)
        return out

    candidates = np.zeros((F, 1 + 5 * (3 if p > 1 else 1), p))
    for f in range(F):
        rows = np.flatnonzero(fold != f)
        X, Y = within(x, rows), within(y, rows)
        freedom = len(rows) - len(np.unique(s[rows]))
        S, C = X.T @ X / freedom, X.T @ Y / freedom
        follows = np.abs(C) / np.sqrt(np.diag(S))
        place = 1
        for sharpness in (0, 2, 4) if p > 1 else (0,):
            D = np.diag(follows**sharpness / (follows**sharpness).max())
            A = D @ S @ D
            for share in EXPLAINED:
                ridge = np.trace(A) * (1 - share) / share / freedom
                candidates[f, place] = D @ np.linalg.solve(A + ridge * np.eye(p), D @ C)
                place += 1
    predicted = np.array([candidates[fold[i]] @ x[i] for i in range(n)])
    left = within(y[:, np.newaxis] - predicted, np.arange(n)) ** 2
    weights = np.zeros((F, candidates.shape[1]))
    for f in range(F):
        n_items = len(set(data["items"][fold != f]))
        loss = left[fold != f].sum(axis=0)
        prior = np.array([1.0] + [1 / (len(loss) - 1)] * (len(loss) - 1))
        weights[f] = prior * (loss / loss[0]) ** (-n_items / 2)
        weights[f] /= weights[f].sum()
    beta = np.array([weights[f] @ candidates[f] for f in range(F)])
    h = np.array([beta[fold[i]] @ x[i] for i in range(n)])
    Y, H = within(y, np.arange(n)), within(h, np.arange(n))
    keep = np.zeros(F)
    for f in range(F):
        rows = np.flatnonzero(fold != f)
        size, cross = H[rows] @ H[rows], H[rows] @ Y[rows]
        if cross <= 0:
            continue
        a = cross / size
        noise = np.sum((Y[rows] - a * H[rows]) ** 2) / max(len(rows) - k - 1, 1)
        clustered = 0.0
        for item in set(data["items"][rows]):
            mine = data["items"] == item
            clustered += np.sum(H[mine] * (Y - a * H)[mine]) ** 2
        doubt = max(clustered, noise * size) / cross**2
        keep[f] = min(a, 1.2) * max(1 - np.log(1 + p) * doubt, 0)
    h *= keep[fold]
    used = keep[fold][:, np.newaxis] * beta[fold]
    if k > 1:
        factor = np.array([own_scales(y, h, s, fold != f, k) for f in range(F)])
        h *= factor[fold, s]
        used *= factor[fold, s][:, np.newaxis]
    h, used = h * spread[s], used * spread[s][:, np.newaxis]
    coefficients = np.array([used[s == one].mean(axis=0) for one in range(k)])
    for one in range(k):
        mine = s == one
        d = mine.sum() / pool_sizes[one]
        whole = coefficients[one] @ x[mine].mean(axis=0)
        h[mine] += d * (whole - h[mine].mean())
    return h, coefficients


def own_scales(y, h, s, outside, k):
    size, cross, left, count = (np.zeros(k) for _ in range(4))
    for one in range(k):
        rows = (s == one) & outside
        Y, H = y[rows] - y[rows].mean(), h[rows] - h[rows].mean()
        if rows.sum() < 3 or H @ H <= 1e-9 * (Y @ Y):
            continue
        size[one], cross[one], count[one] = H @ H, H @ Y, rows.sum() - 1
        left[one] = np.sum((Y - H) ** 2)
    known = size > 0
    if not known.any():
        return np.ones(k)
    noise = left.sum() / max(count.sum(), 1)
    prior = 0.25 * size.sum()
    common = np.clip((cross.sum() / size.sum() * prior + noise) / (prior + noise), 0, 1.5)
    own = np.where(known, cross / np.where(known, size, 1), common)
    between = max((size @ (own - common) ** 2 - noise * known.sum()) / size.sum(), 0)
    between = (between * known.sum() + 0.05 * 2) / (known.sum() + 2)
    kept = [between / (between + noise / w) if w > 0 else 0.0 for w in size]
    return np.clip(common + kept * (own - common), 0, 2)


def test_matches_a_hand_worked_example():
    # One system, four outputs, each a fold, x = (-1, 1, -1, 1) and y = 1 + x. Without one, say the
    # first, x = (1, -1, 1) has within variance S = (8/3) / 2 and covariance C = S, so that with
    # ridge S (1 - e)/e / 2 a candidate is C / (S + ridge) = 2 e / (1 + e) = c. What it leaves of y
    # has squares (1 - c)^2 times those without control. Three items are left, so the weights are as
    # 1 for none and (1/5) (1 - c)^-3 for the five candidates. Judgments have the slope 1 / b on the
    # control b x, of which at most 1.2 is kept.
    e = np.array(EXPLAINED)
    x = np.array([-1.0, 1.0, -1.0, 1.0])
    c = 2 * e / (1 + e)
    weight = np.concatenate([[1.0], 0.2 / (1 - c) ** 3])
    slope = weight[1:] @ c / weight.sum()
    data = {"scores": 1 + x, "metrics": x[:, np.newaxis], "systems": np.zeros(4, int)}
    got = learned({**data, "items": np.arange(4)}, spread=np.ones(1))
    np.testing.assert_allclose(got.coefficients, [[min(1.2, 1 / slope) * slope]])
    np.testing.assert_allclose(got.values, got.coefficients[0] * x)


@pytest.mark.parametrize(
    "shape",
    [
        {"k": 1, "n": 15, "p": 1},
        {"k": 1, "n": 30, "p": 6},
        {"k": 3, "n": 12, "p": 4},
        {"k": 4, "n": 30, "p": 3, "shared": False},
        {"k": 2, "n": 8, "p": 12},
        {"k": 5, "n": 10, "p": 1, "rho": 2.0},
    ],
)
def test_equals_an_independent_implementation(shape):
    for seed in range(5):
        data = campaign(seed, **shape)
        k = shape["k"]
        spread = np.random.default_rng(seed).uniform(0.5, 2, k)
        pool_sizes = np.array([40.0, 50.0, np.inf, 60.0, 70.0])[:k]
        values, coefficients = brute(data, spread, pool_sizes)
        got = learned(data, spread, pool_sizes)
        np.testing.assert_allclose(got.values, values, atol=1e-10)
        np.testing.assert_allclose(got.coefficients, coefficients, atol=1e-10)


def test_candidates_do_not_know_the_judgments_of_their_fold():
    # The average of the candidates, and what is kept of it, may depend on them: through the
    # predictions of other folds only.
    data = campaign(1, k=3, n=25, p=4)
    folds = _folds(data["items"])
    before = _candidates(data["scores"], data["metrics"], data["systems"], folds)
    changed = data["scores"].copy()
    changed[folds == 4] += [100, -30, 5, 17, 0.1, -8]
    after = _candidates(changed, data["metrics"], data["systems"], folds)
    np.testing.assert_allclose(after[:, 4], before[:, 4], atol=1e-10)
    assert np.abs(after[:, 5] - before[:, 5]).max() > 0.1


def test_outputs_of_one_item_are_always_in_one_fold():
    items = np.random.default_rng(0).integers(0, 57, 300)
    folds = _folds(items)
    assert folds.max() == 19
    assert all(len(set(folds[items == item])) == 1 for item in items)


def test_the_same_text_by_two_systems_does_not_predict_itself():
    # Two systems gave the same text to each item and raters the same score, and every metric is
    # noise: a control that saw the twin would follow the scores.
    follows = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        score, x = rng.normal(size=15), rng.normal(size=(15, 30))
        data = {
            "scores": np.tile(score, 2),
            "metrics": np.tile(x, (2, 1)),
            "systems": np.repeat([0, 1], 15),
            "items": np.tile(np.arange(15), 2),
        }
        got = learned(data)
        follows.append(got.values @ (data["scores"] - score.mean().repeat(30)))
    follows = np.array(follows)
    assert follows.mean() <= 3 * follows.std() / np.sqrt(40) + 1e-12
    split = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        score, x = rng.normal(size=15), rng.normal(size=(15, 30))
        data = {
            "scores": np.tile(score, 2),
            "metrics": np.tile(x, (2, 1)),
            "systems": np.repeat([0, 1], 15),
            "items": np.arange(30) * 7 % 31,  # were twins taken for different items, they would
        }
        split.append(learned(data).values @ (data["scores"] - score.mean().repeat(30)))
    assert np.mean(split) > 5 * np.std(split) / np.sqrt(40)


def test_noise_is_not_taken_for_a_control():
    # 10 systems on the same 10 items, 69 metrics of noise: no bias, and an error at most 1.03 times
    # the plain mean's
    shift, extra, plain = [], [], []
    for seed in range(150):
        rng = np.random.default_rng([seed, 1])
        item = rng.normal(size=10)
        data = campaign(seed, k=10, n=10, p=69, rho=0.0)
        data["scores"] = data["scores"] + np.tile(item, 10)
        control = learned(data).values.reshape(10, 10).mean(axis=1)
        mean = data["scores"].reshape(10, 10).mean(axis=1)
        shift.append(control.mean())
        extra.append(np.mean((mean - control) ** 2) - 1.03 * np.mean(mean**2))
        plain.append(np.mean(mean**2))
    assert abs(np.mean(shift)) < 3 * np.std(shift) / np.sqrt(len(shift))
    assert np.mean(extra) < 2 * np.std(extra) / np.sqrt(len(extra))
    assert np.mean(extra) + 0.03 * np.mean(plain) < 0.03 * np.mean(plain)


def test_large_scores_lose_no_digits():
    data = campaign(2)
    small = learned(data, np.ones(3))
    data["scores"] = 1e6 + 1e-3 * data["scores"]
    large = learned(data, 1e-3 * np.ones(3))
    np.testing.assert_allclose(1e3 * large.values, small.values, atol=1e-5)


def test_the_control_of_a_pool_that_was_judged_whole_is_zero_on_average():
    data = campaign(3, k=3, n=20)
    for system in range(3):
        rows = data["systems"] == system
        data["metrics"][rows] -= data["metrics"][rows].mean(axis=0)
    got = learned(data, pool_sizes=np.full(3, 20.0))
    assert np.abs(got.values).max() > 0.1
    np.testing.assert_allclose(got.values.reshape(3, 20).mean(axis=1), 0, atol=1e-12)


def test_a_control_is_nearly_unbiased_for_half_a_skewed_pool():
    # Judgments follow the square of a skewed metric, so that slope and metric depend on one another;
    # half of the pool of 24 is judged.
    rng = np.random.default_rng(4)
    x = rng.exponential(size=24)
    x -= x.mean()
    y = x**2 + 2 * x
    error = []
    for _ in range(1500):
        drawn = np.sort(rng.choice(24, 12, replace=False))
        data = {
            "scores": y[drawn],
            "metrics": x[drawn, np.newaxis],
            "systems": np.zeros(12, int),
            "items": drawn,
        }
        h = learned(data, np.array([y.std()]), np.array([24.0])).values
        error.append(y[drawn].mean() - h.mean() - y.mean())
    # Centred at the pool's mean the bias is 0.46 standard errors. What is left of it, 0.11, is what an
    # item's judgment says in the weights of its own control.
    assert abs(np.mean(error)) < 0.2 * np.std(error)


@pytest.mark.parametrize("p", [0, 1])
def test_two_folds_or_no_metric_give_no_control(p):
    data = campaign(0, k=2, n=2, p=p)
    got = learned(data)
    assert not got.values.any()
    assert got.coefficients.shape == (2, p)


def test_the_scale_for_differences_makes_the_variance_of_all_of_them_least():
    rng = np.random.default_rng(8)
    k, n = 3, 9
    items, systems = np.tile(np.arange(n), k), np.repeat(np.arange(k), n)
    folds = items % 3
    h = rng.normal(size=k * n)
    y = 0.4 * h + rng.normal(size=k * n)
    got = _pair_scales(y, h, systems=systems, items=items, folds=folds)
    for fold in range(3):
        pairs = [(a, b) for a in range(k) for b in range(a)]
        keep = [item for item in range(n) if item % 3 != fold]

        def gap(values, item):
            return np.array([values[a * n + item] - values[b * n + item] for a, b in pairs])  # noqa: B023

        cross = np.array([gap(y, item) @ gap(h, item) for item in keep])
        size = np.array([gap(h, item) @ gap(h, item) for item in keep])
        least = cross.sum() / size.sum()
        doubt = np.sum((cross - least * size) ** 2) / size.sum() ** 2
        # By Bayes' rule: no scale with probability one half, else one from a normal distribution.
        useful = stats.norm.pdf(least, 0.7, np.sqrt(0.09 + doubt))
        useful /= useful + stats.norm.pdf(least, 0.0, np.sqrt(doubt))
        want = useful * (0.7 + (least - 0.7) * 0.09 / (0.09 + doubt))
        assert got[fold] == pytest.approx(want)


def test_systems_without_an_item_in_common_keep_the_control_of_their_means():
    data = campaign(4, shared=False)
    for one, other in zip(
        vars(learned(data)).values(), vars(learned(data, differences=True)).values(), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_metric_of_the_items_alone_corrects_means_and_hardly_differences():
    rng = np.random.default_rng(5)
    k, n = 4, 200
    item = rng.normal(size=n)
    x = np.concatenate([item + 0.3 * rng.normal(size=n) for _ in range(k)])
    data = {
        "scores": np.tile(item, k) + 0.5 * rng.normal(size=k * n),
        "metrics": x[:, np.newaxis],
        "systems": np.repeat(np.arange(k), n),
        "items": np.tile(np.arange(n), k),
    }
    means, differences = learned(data), learned(data, differences=True)
    assert (means.coefficients > 0.6).all()
    assert (np.abs(differences.coefficients) < 0.25).all()
