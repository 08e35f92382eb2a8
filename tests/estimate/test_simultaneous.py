"""Levels and p-values that hold for several differences together."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from steelyard.estimate.equal_systems import equal_sets, members
from steelyard.estimate.simultaneous import Together, contrasts_of


def together(influences, pairs, *, units=None, level=0.95, seed=0):
    units = int(influences.any(axis=0).sum()) if units is None else units
    return Together(influences, contrasts_of(pairs), units=units, level=level, seed=seed)


def independent(k):
    """All pairs of `k` systems whose errors many units have shown to be independent."""
    pairs = list(combinations(range(k), 2))
    return together(contrasts_of(pairs), pairs, units=100_000), pairs


def p_of(size):
    return 2 * stats.norm.sf(np.abs(size))


@pytest.mark.parametrize("k", [3, 5, 10])
def test_all_pairs_of_independent_groups_have_tukeys_level(k):
    level = independent(k)[0].level
    # A large number of degrees of freedom stands for normal errors.
    reach = stats.studentized_range.ppf(0.95, k, 100_000) / np.sqrt(2)
    assert stats.norm.ppf((1 + level) / 2) == pytest.approx(reach, rel=0.015)


def test_independent_and_equal_errors_have_the_known_levels():
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(6)]
    apart = together(np.eye(6), pairs).level
    assert apart == pytest.approx(0.95 ** (1 / 6), abs=0.001)
    # Many units have shown that all errors are the same one.
    assert together(np.ones((6, 4000)), pairs).level == pytest.approx(0.95, abs=0.006)
    assert together(np.zeros((6, 2)), pairs).level == pytest.approx(apart, abs=0.002)


def test_few_units_do_not_make_many_systems_err_alike():
    pairs = list(combinations(range(12), 2))
    level = together(np.ones((len(pairs), 4)), pairs).level
    reach = stats.studentized_range.ppf(0.95, 12, 100_000) / np.sqrt(2)
    assert stats.norm.ppf((1 + level) / 2) == pytest.approx(reach, rel=0.015)


def test_one_pair_keeps_its_level_and_its_p_value():
    one = together(np.ones((1, 5)), [(0, 1)])
    assert one.level == 0.95
    assert one.steps(np.array([0.03]), [(0, 1)]).p_values == pytest.approx([0.03])


@pytest.mark.parametrize(("k", "number"), [(2, 2), (3, 5), (4, 15), (5, 52), (8, 4140)])
def test_pairs_that_can_be_equal_together_are_counted_by_bells_numbers(k, number):
    sets = equal_sets(list(combinations(range(k), 2)))
    assert len(sets) == number


def test_three_systems_are_equal_in_one_pair_or_in_all_three():
    sets = equal_sets([("a", "b"), ("a", "c"), ("b", "c")])
    assert [members(one).tolist() for one in sets] == [[], [0], [1], [2], [0, 1, 2]]
    assert equal_sets([(0, number) for number in range(1, 12)]) is None


def test_the_second_of_three_systems_pairs_needs_no_correction():
    # Once a and c differ, at most one of the two other pairs has no difference.
    known, pairs = independent(3)
    alone = p_of([2.2, 3.5, 2.0])
    got = known.steps(alone, pairs).p_values
    first = stats.studentized_range.sf(3.5 * np.sqrt(2), 3, 100_000)
    assert got[1] == pytest.approx(first, abs=4 * np.sqrt(first / 10_000))
    assert got[[0, 2]] == pytest.approx(alone[[0, 2]])
    assert known.steps(alone, pairs).levels[[0, 2]] == pytest.approx(0.95, abs=0.006)


def test_pairs_without_a_system_in_common_step_down_as_holm_and_sidak_do():
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(8)]
    alone = np.random.default_rng(0).uniform(0, 0.1, 8)
    got = together(np.eye(8), pairs, units=100_000).steps(alone, pairs).p_values
    want = multipletests(alone, method="holm-sidak")[1]
    assert got == pytest.approx(want, abs=0.015)


def test_p_values_smaller_than_the_simulation_shows_are_holms():
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(6)]
    alone = 10.0 ** -np.arange(8, 14)
    got = together(np.eye(6), pairs, units=100_000).steps(alone, pairs).p_values
    assert got == pytest.approx(multipletests(alone, method="holm")[1], rel=1e-6)


def partitions(systems):
    if not systems:
        yield []
        return
    first, *rest = systems
    for parts in partitions(rest):
        yield [[first], *parts]
        for number, part in enumerate(parts):
            yield [*parts[:number], [first, *part], *parts[number + 1 :]]


@pytest.mark.parametrize("seed", range(6))
def test_steps_are_those_of_testing_every_partition(seed):
    # Closed testing: a pair differs if every partition that joins the two is refuted by its clearest pair.
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(4), 2))
    root = contrasts_of(pairs) @ rng.normal(size=(4, 40))
    size = np.abs(root @ rng.normal(size=40) / 10 + rng.normal(size=6))
    got = together(root, pairs, units=100_000, seed=3).steps(p_of(size), pairs).p_values
    scale = np.sqrt((root**2).sum(axis=1))
    errors = np.abs(rng.standard_normal((40_000, 40)) @ (root / scale[:, np.newaxis]).T)
    closed = np.zeros(6)
    for parts in partitions([0, 1, 2, 3]):
        joined = [
            row for row, pair in enumerate(pairs) if any(set(pair) <= set(part) for part in parts)
        ]
        if joined:
            share = (errors[:, joined].max(axis=1) >= size[joined].max()).mean()
            closed[joined] = np.maximum(closed[joined], share)
    order = np.argsort(-size)
    want = np.maximum.accumulate(closed[order])
    assert got[order] == pytest.approx(want, abs=0.015)


def test_a_pair_beyond_all_is_clear_by_its_p_value():
    known, pairs = independent(5)
    reach = stats.norm.ppf((1 + known.level) / 2)
    just = np.array([reach * 1.001, *9 * [0.1]])
    assert known.steps(p_of(just), pairs).p_values[0] <= 0.05
    assert known.steps(p_of(just * 0.995), pairs).p_values[0] > 0.05


def test_more_than_ten_systems_step_down_over_all_pairs_that_are_left():
    known, pairs = independent(12)
    size = np.random.default_rng(1).normal(size=66) * 3
    got = known.steps(p_of(size), pairs).p_values
    order = np.argsort(-np.abs(size))
    errors = np.abs(np.random.default_rng(2).standard_normal((10_000, 12)) @ contrasts_of(pairs).T)
    errors /= np.sqrt(2)
    shares = [
        (errors[:, order[step:]].max(axis=1) >= abs(size[order[step]])).mean() for step in range(66)
    ]
    assert got[order] == pytest.approx(np.maximum.accumulate(shares), abs=0.02)


@pytest.mark.parametrize("means", [(0, 0, 0, 0), (0.4, 0, 0, 0), (3, 3, 0, 0), (4, 2, 0.3, 0)])
def test_a_wrong_claim_is_made_as_seldom_as_the_level_says(means):
    # Two of four systems may be equal, or all but one, or none: equal pairs must stay open, others have the right sign.
    rng = np.random.default_rng(0)
    known, pairs = independent(4)
    contrasts = contrasts_of(pairs)
    truth = contrasts @ np.array(means)
    wrong = 0
    for _ in range(400):
        found = (truth + contrasts @ rng.standard_normal(4)) / np.sqrt(2)
        claimed = np.sign(found) * (known.steps(p_of(found), pairs).p_values <= 0.05)
        wrong += ((claimed != 0) & (claimed != np.sign(truth))).any()
    assert stats.binomtest(int(wrong), 400, 0.05, alternative="greater").pvalue > 0.001
