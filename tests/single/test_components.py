import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from one_way_anova import one_way
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.components import check_repeats, variance_components
from steelyard.single.crossed import crossed_components
from steelyard.single.judged import judged_outputs


def simulate(rng, *, outputs, item, rater, count=(1, 2, 3)):
    """Skewed human scores, and rater noise that differs from output to output."""
    m = rng.choice(count, size=outputs)
    output = np.repeat(np.arange(outputs), m)
    score = (rng.exponential(size=outputs) - 1) * np.sqrt(item)
    spread = rng.choice([0.5, 1.5], size=outputs)
    noise = rng.normal(size=len(output)) * np.sqrt(rater * spread)[output]
    return score[output] + noise, output


def test_matches_a_hand_worked_example_with_unequal_counts():
    # Outputs (1, 3), (6, 8, 10), (4): means 2, 8, 4; within 2 + 8 + 0 over 6 - 3.
    # Grand mean 32/6; between 2 * (10/3)^2 + 3 * (8/3)^2 + (4/3)^2 = 136/3 over 2.
    # n0 = (6 - 14/6) / 2 = 11/6; item = (68/3 - 10/3) / (11/6) = 116/11.
    found = one_way(judged_outputs([1, 3, 6, 8, 10, 4], None, [1, 1, 2, 2, 2, 3]))
    assert found.rater == pytest.approx(10 / 3)
    assert found.effective_count == pytest.approx(11 / 6)
    assert found.item == pytest.approx(116 / 11)


def test_equal_counts_agree_with_the_textbook_table():
    statsmodels = pytest.importorskip("statsmodels.formula.api")
    from pandas import DataFrame
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(4)
    output = np.repeat(np.arange(12), 3)
    human = rng.normal(size=12)[output] + rng.normal(size=36)
    table = anova_lm(
        statsmodels.ols("human ~ C(output)", DataFrame({"human": human, "output": output})).fit()
    )
    between, within = table["mean_sq"]
    found = one_way(judged_outputs(human, None, output))
    assert found.rater == pytest.approx(within)
    assert found.item == pytest.approx((between - within) / 3)


@pytest.mark.parametrize("count", [(2,), (1, 2, 3), (1, 1, 1, 9)])
def test_both_variances_are_unbiased_with_unequal_counts_and_uneven_noise(count):
    rng = np.random.default_rng(11)
    draws = []
    while len(draws) < 4000:
        human, items = simulate(rng, outputs=12, item=0.5, rater=1.0, count=count)
        if len(human) == 12:
            continue
        sample = judged_outputs(human, None, items)
        found = one_way(sample)
        draws.append((found.unbiased_item, found.rater))
    mean = np.mean(draws, axis=0)
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    assert (np.abs(mean - [0.5, 1.0]) < 4 * error).all()


def test_shared_raters_bias_the_one_way_item_variance_by_the_documented_amount():
    # The estimate is a quadratic form: leniencies of variance 1 add, over raters, its value at the
    # indicator of that rater's judgments.
    rng = np.random.default_rng(2)
    who = [rng.choice(5, size, replace=False) for size in rng.integers(1, 4, size=30)]
    rater, output = np.concatenate(who), np.repeat(range(30), [len(one) for one in who])
    found = [one_way(judged_outputs(rater == r, None, output)) for r in range(5)]
    load, M = np.bincount(rater), len(rater)
    expected = -(load @ load / M - 1) / (29 * found[0].effective_count)
    assert sum(one.unbiased_item for one in found) == pytest.approx(expected)
    assert sum(one.rater for one in found) == pytest.approx(1)


def test_value_and_interval_are_reported_together():
    rng = np.random.default_rng(3)
    human, items = simulate(rng, outputs=200, item=1.0, rater=2.0)
    found = variance_components(human, items)
    plain = one_way(judged_outputs(human, None, items))
    assert found.item.value == pytest.approx(plain.item)
    assert found.rater.value == pytest.approx(plain.rater)
    assert found.noise_ratio.value == pytest.approx(plain.rater / plain.item)
    for quantity in (found.item, found.rater, found.noise_ratio):
        assert quantity.low < quantity.value < quantity.high
    assert found.leniency is None
    assert found.n_outputs == 200
    assert found.to_dict()["noise_ratio"] == found.noise_ratio.to_dict()
    assert str(found).startswith("item ")


def test_item_variance_below_zero_is_reported_as_zero_with_an_infinite_noise_ratio():
    # All output means equal, raters far apart.
    found = variance_components([0, 2] * 40, np.repeat(np.arange(40), 2))
    assert found.item.value == 0
    assert found.noise_ratio.value == np.inf
    assert "item variance is reported as 0" in found.notes[0]


def test_perfect_agreement_is_said_to_be_so():
    found = variance_components([1, 1, 3, 3, 2, 2], [1, 1, 2, 2, 3, 3])
    assert found.rater.value == 0
    assert found.noise_ratio.value == 0
    assert "no two judgments of one output differ, so the rater variance is 0" in found.notes


def test_few_repeated_outputs_are_pointed_out():
    found = variance_components([1, 2, 3, 3, 2, 1], [1, 1, 2, 2, 3, 4])
    assert any("only 2 outputs have two judgments" in note for note in found.notes)


def test_is_the_same_at_every_call_and_follows_the_given_randomness():
    human, items = simulate(np.random.default_rng(3), outputs=60, item=1.0, rater=1.0)
    assert variance_components(human, items) == variance_components(human, items)
    other = variance_components(human, items, rng=np.random.default_rng(1))
    assert other.item.value == variance_components(human, items).item.value
    assert other.item.low != variance_components(human, items).item.low


def test_ten_thousand_resamples_are_no_burden():
    human, items = simulate(np.random.default_rng(3), outputs=500, item=1.0, rater=1.0)
    found = variance_components(human, items, resamples=10_000)
    assert found.item.low < found.item.value < found.item.high


def test_with_raters_the_components_are_crossed():
    rng = np.random.default_rng(8)
    output, rater = np.repeat(np.arange(60), 2), rng.integers(0, 8, size=120)
    human = rng.normal(size=60)[output] + rng.normal(size=8)[rater] + rng.normal(size=120)
    found = variance_components(human, output, rater)
    crossed = crossed_components(human, output, rater)
    assert found.item.value == pytest.approx(crossed.item)
    assert found.leniency.value == pytest.approx(crossed.leniency)
    assert found.residual.value == pytest.approx(crossed.residual)
    assert found.rater.value == pytest.approx(crossed.leniency + crossed.residual)
    assert found.noise_ratio.value == pytest.approx(crossed.rater / crossed.item)
    assert found.n_raters == 8
    for quantity in (found.item, found.rater, found.noise_ratio, found.leniency, found.residual):
        assert quantity.low < quantity.value < quantity.high


def test_long_tails_widen_crossed_intervals_as_they_do_the_bootstrap():
    rng = np.random.default_rng(12)
    output, rater = np.repeat(np.arange(300), 2), rng.integers(0, 20, size=600)
    score, noise = rng.exponential(size=300) ** 2, rng.laplace(size=600)
    human = score[output] + 0.3 * rng.normal(size=20)[rater] + noise
    crossed, plain = variance_components(human, output, rater), variance_components(human, output)
    width, expected = (found.item.high - found.item.low for found in (crossed, plain))
    assert width == pytest.approx(expected, rel=0.2)
    normal = crossed_components(human, output, rater).covariance[0, 0]
    assert width > 2 * 2 * 1.96 * np.sqrt(normal)


def test_raters_with_one_judgment_each_leave_leniency_out():
    rng = np.random.default_rng(8)
    output = np.repeat(np.arange(30), 2)
    human = rng.normal(size=30)[output] + rng.normal(size=60)
    found = variance_components(human, output, np.arange(60))
    plain = one_way(judged_outputs(human, None, output))
    assert found.leniency is None
    assert found.residual is None
    assert found.rater.value == pytest.approx(plain.rater)
    assert found.item.value == pytest.approx(plain.item)
    assert found.to_dict()["leniency"] is None


samples = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@settings(max_examples=30, deadline=None)
@given(rng=samples, scale=st.floats(0.01, 100), shift=st.floats(-1000, 1000))
def test_an_affine_change_of_scale_scales_variances_by_its_square(rng, scale, shift):
    human, items = simulate(rng, outputs=30, item=1.0, rater=1.0, count=(2, 3))
    here = variance_components(human, items, resamples=100)
    there = variance_components(scale * human + shift, items, resamples=100)
    for name in ("item", "rater"):
        for key, value in getattr(here, name).to_dict().items():
            expected = pytest.approx(value * scale**2, rel=1e-6, abs=1e-9 * scale**2)
            assert getattr(there, name).to_dict()[key] == expected


@settings(max_examples=30, deadline=None)
@given(rng=samples)
def test_the_order_of_rows_and_the_names_of_outputs_do_not_matter(rng):
    human, items = simulate(rng, outputs=30, item=1.0, rater=1.0, count=(2, 3))
    order = rng.permutation(len(human))
    here = variance_components(human, items, resamples=100)
    assert variance_components(human[order], items[order], resamples=100) == here
    renamed = variance_components(human, items + 1000, resamples=100)
    assert renamed == here


def test_intervals_cover_at_about_their_level():
    rng = np.random.default_rng(5)
    reps, hits = 250, {"item": 0, "rater": 0, "noise_ratio": 0}
    truth = {"item": 1.0, "rater": 1.0, "noise_ratio": 1.0}
    for _ in range(reps):
        output = np.repeat(np.arange(120), 2)
        human = rng.normal(size=120)[output] + rng.normal(size=240)
        found = variance_components(human, output, resamples=400, rng=rng)
        for name, value in truth.items():
            quantity = getattr(found, name)
            hits[name] += quantity.low <= value <= quantity.high
    for name, hit in hits.items():
        assert binomtest(int(hit), reps, 0.95).pvalue > 0.001, (name, hit / reps)


@pytest.mark.slow
@pytest.mark.parametrize("raters", [15, 60])
def test_crossed_intervals_cover_at_about_their_level(raters):
    rng = np.random.default_rng(6)
    reps = 400
    truth = {"item": 1.0, "leniency": 0.3, "residual": 1.0, "rater": 1.3, "noise_ratio": 1.3}
    hits = dict.fromkeys(truth, 0)
    for _ in range(reps):
        output = np.repeat(np.arange(150), 2)
        rater = rng.integers(0, raters, size=300)
        human = (
            rng.normal(size=150)[output]
            + rng.normal(size=raters)[rater] * np.sqrt(0.3)
            + rng.normal(size=300)
        )
        found = variance_components(human, output, rater)
        for name, value in truth.items():
            quantity = getattr(found, name)
            hits[name] += quantity.low <= value <= quantity.high
    for name, hit in hits.items():
        # Approximate intervals: within two points of their level.
        assert binomtest(int(hit), reps, 0.93, alternative="less").pvalue > 0.001, name
        assert binomtest(int(hit), reps, 0.97, alternative="greater").pvalue > 0.001, name


def few_repeats(rng, shape):
    """100 outputs of which 20 have two judgments, with the true noise ratio."""
    output = np.append(np.arange(100), np.arange(20))
    if shape == "normal":
        return rng.normal(size=100)[output] + rng.normal(size=120), output, 1.0
    if shape == "skewed":
        noise = rng.laplace(size=120) / np.sqrt(2)
        return rng.exponential(size=100)[output] + noise, output, 1.0
    # Nine of ten scores are high, and raters seldom disagree: 0.03 over 0.06.
    chance = rng.beta(0.45, 0.05, size=100)
    return (rng.uniform(size=120) < chance[output]).astype(float), output, 0.5


@pytest.mark.parametrize("shape", ["normal", "skewed", "binary"])
def test_the_noise_ratio_is_covered_with_few_second_judgments(shape):
    # Without an imagined output 87, 89 and 68%, and no width in 31% of the two-valued samples.
    reps, hits = 200, 0
    for seed in range(reps):
        human, output, truth = few_repeats(np.random.default_rng(seed), shape)
        found = variance_components(human, output, resamples=200).noise_ratio
        assert found.low < found.high
        hits += found.low <= truth <= found.high
    assert binomtest(hits, reps, 0.95, alternative="less").pvalue > 0.01


def test_refuses_outputs_with_one_judgment_each():
    with pytest.raises(NotEstimableError, match="collect a second judgment on some outputs"):
        variance_components([1, 2, 3], [1, 2, 3])
    with pytest.raises(NotEstimableError, match="pass `items`"):
        check_repeats(judged_outputs([1, 2, 3]))


def test_refuses_a_single_output():
    with pytest.raises(NotEstimableError, match="at least two outputs are needed"):
        variance_components([1, 2, 3], [1, 1, 1])


def test_refuses_judgments_that_are_all_equal():
    with pytest.raises(NotEstimableError, match="judgments that differ; got 4 times 2"):
        variance_components([2, 2, 2, 2], [1, 1, 2, 2])


def test_refuses_misaligned_arrays_and_bad_options():
    with pytest.raises(InvalidArgumentError, match=r"`items` must have shape \(3,\)"):
        variance_components([1, 2, 3], [1, 2])
    with pytest.raises(InvalidArgumentError, match="`level` must lie between 0 and 1"):
        variance_components([1, 2, 3], [1, 1, 2], level=95)
    with pytest.raises(InvalidArgumentError, match="`resamples` must be at least"):
        variance_components([1, 2, 3], [1, 1, 2], resamples=3)
