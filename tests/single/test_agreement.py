import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from one_way_anova import one_way
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.agreement import agreement
from steelyard.single.judged import judged_outputs

krippendorff = pytest.importorskip("krippendorff")


def reliability_matrix(human, items):
    """Judgments as the reference implementation wants them: raters by outputs, gaps as NaN."""
    items = np.unique(items, return_inverse=True)[1]
    matrix = np.full((np.bincount(items).max(), items.max() + 1), np.nan)
    filled = np.zeros(items.max() + 1, dtype=int)
    for score, item in zip(human, items, strict=True):
        matrix[filled[item], item] = score
        filled[item] += 1
    return matrix


def simulate(rng, *, outputs=25, levels=4):
    items = np.repeat(np.arange(outputs), rng.integers(1, 5, size=outputs))
    human = rng.normal(size=outputs)[items] + rng.normal(size=len(items))
    return np.clip(np.round(human), 0, levels - 1), items


def test_matches_a_hand_worked_example():
    # Pairs (1, 1), (2, 3), (3, 3). Values 1, 2, 3 occur 2, 1, 3 times; 22 ordered pairs differ.
    # Nominal: 1 - (5 * 2 / 22); interval: 1 - 2 * (1/2) / ((17/6 + ...)).
    found = agreement([1, 1, 2, 3, 3, 3, 9], [1, 1, 2, 2, 3, 3, 4])
    assert found.equal_pairs == pytest.approx(2 / 3)
    assert found.alpha_nominal == pytest.approx(1 - 5 * 2 / 22)
    # Interval: observed 2 * SS within = 1; expected variance of 1, 1, 2, 3, 3, 3 times n.
    expected = np.var([1, 1, 2, 3, 3, 3], ddof=1) * 6
    assert found.alpha_interval == pytest.approx(1 - 1 / expected)
    assert found.n_single == 1


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_alpha_agrees_with_the_reference_implementation(seed):
    human, items = simulate(np.random.default_rng(seed))
    found = agreement(human, items)
    matrix = reliability_matrix(human, items)
    for level in ("nominal", "ordinal", "interval"):
        theirs = krippendorff.alpha(matrix, level_of_measurement=level)
        assert getattr(found, f"alpha_{level}") == pytest.approx(theirs, abs=1e-9)


def test_alpha_takes_continuous_scores():
    rng = np.random.default_rng(3)
    items = np.repeat(np.arange(30), 2)
    human = rng.normal(size=30)[items] + rng.normal(size=60)
    found = agreement(human, items)
    matrix = reliability_matrix(human, items)
    assert found.equal_pairs == 0
    for level in ("nominal", "ordinal", "interval"):
        theirs = krippendorff.alpha(matrix, level_of_measurement=level)
        assert getattr(found, f"alpha_{level}") == pytest.approx(theirs, abs=1e-9)


def test_equal_pairs_are_counted_over_all_pairs():
    rng = np.random.default_rng(1)
    human, items = simulate(rng)
    equal = [
        human[i] == human[j] for i in range(len(human)) for j in range(i) if items[i] == items[j]
    ]
    assert agreement(human, items).equal_pairs == pytest.approx(np.mean(equal))


def test_shrout_and_fleiss_example_one_way():
    # Shrout and Fleiss (1979), table 2: six targets, four judges; ICC(1,1) = .17.
    table = np.array(
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    )
    found = agreement(table.ravel(), np.repeat(np.arange(6), 4))
    assert found.icc == pytest.approx(0.166, abs=5e-4)


def test_unequal_counts_go_through_the_effective_number():
    human, items = simulate(np.random.default_rng(4))
    found = agreement(human, items)
    parts = one_way(judged_outputs(human, None, items))
    assert found.icc == pytest.approx(parts.unbiased_item / (parts.unbiased_item + parts.rater))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.5, 2.0, 10.0]))
def test_units_and_the_order_of_rows_do_not_matter(seed, scale):
    rng = np.random.default_rng(seed)
    human, items = simulate(rng)
    order = rng.permutation(len(human))
    here, there = agreement(human, items), agreement(scale * human[order] - 3, items[order])
    for name in ("alpha_nominal", "alpha_ordinal", "alpha_interval", "equal_pairs", "icc"):
        assert getattr(there, name) == pytest.approx(getattr(here, name), abs=1e-9)


def test_ordinal_alpha_depends_on_the_order_of_scores_alone():
    human, items = simulate(np.random.default_rng(7))
    assert agreement(np.exp(human), items).alpha_ordinal == pytest.approx(
        agreement(human, items).alpha_ordinal
    )


def test_refuses_when_nothing_can_be_paired():
    with pytest.raises(NotEstimableError, match="collect a second judgment on some outputs"):
        agreement([1, 2, 3], [1, 2, 3])


def test_refuses_paired_judgments_that_are_all_equal():
    with pytest.raises(NotEstimableError, match="agreement needs judgments that differ"):
        agreement([1, 1, 1, 1, 3], [1, 1, 2, 2, 3])


def test_refuses_misaligned_arrays():
    with pytest.raises(InvalidArgumentError, match="`items` must have shape"):
        agreement([1, 2, 3], [1, 1])
