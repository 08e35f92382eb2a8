import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.components import variance_components
from steelyard.single.efficiency import correlation
from steelyard.single.printed import authors_correlation, printed_components

# The paper's table of tasks: rater variance, item variance and noise ratio as printed, then the
# unbiased item variance and noise ratio.
TABLE = {
    ("cnndm", "grammar"): (0.320, 0.259, 1.235, 0.102, 3.140),
    ("cnndm", "redundancy"): (0.260, 0.428, 0.608, 0.298, 0.875),
    ("cnndm", "overall"): (0.280, 0.279, 1.005, 0.140, 1.998),
    ("cnndm", "hter"): (0.066, 0.185, 0.357, 0.151, 0.437),
    ("msmarco", "AnyCorrect"): (0.139, 0.146, 0.951, 0.086, 1.622),
    ("msmarco", "AvgCorrect"): (0.120, 0.132, 0.906, 0.080, 1.506),
}


def test_printed_item_variance_is_that_of_the_means():
    # Means 2, 7, 3; rater variance (2 + 2 + 2) / 3.
    found = printed_components([1, 3, 6, 8, 2, 4], [1, 1, 2, 2, 3, 3])
    assert found.rater == 2
    assert found.variance_of_means == 7
    assert found.noise_ratio == pytest.approx(2 / 7)
    assert found.total_less_rater == pytest.approx(np.var([1, 3, 6, 8, 2, 4], ddof=1) - 2)


def test_printed_item_variance_still_holds_rater_noise():
    rng = np.random.default_rng(1)
    output = np.repeat(np.arange(20_000), 2)
    human = rng.normal(size=20_000)[output] + rng.normal(size=40_000) * np.sqrt(2)
    printed = printed_components(human, output)
    assert printed.variance_of_means == pytest.approx(1 + 2 / 2, rel=0.05)
    assert printed.total_less_rater == pytest.approx(1, rel=0.05)


def test_equal_means_have_an_infinite_printed_noise_ratio():
    assert printed_components([0, 2, 0, 2], [1, 1, 2, 2]).noise_ratio == np.inf


def test_authors_correlation_matches_a_hand_worked_example():
    # Means 2, 7, 3 (4); metric 0, 2, 1 (1): covariance 5 / 3, metric variance 1.
    human, items, metric = [1, 3, 6, 8, 2, 4], [1, 1, 2, 2, 3, 3], [0, 0, 2, 2, 1, 1]
    item = np.var(human, ddof=1) - 2
    expected = (5 / 3) / np.sqrt(item)
    assert authors_correlation(human, metric, items=items) == pytest.approx(expected)
    moved = authors_correlation(human, metric, items=items, means=[3, 3, 6, 6, 3, 3])
    assert moved == pytest.approx((3 / 3) / np.sqrt(item))


def test_refuses_several_metrics_and_what_is_not_determined():
    with pytest.raises(InvalidArgumentError, match="`metric` must be a single one"):
        authors_correlation([1, 2, 3, 5], np.eye(4)[[0, 0, 1, 1]], items=[1, 1, 2, 2])
    with pytest.raises(NotEstimableError, match="second judgment"):
        printed_components([1, 2], [1, 2])


@pytest.mark.parametrize(("task", "prompt"), TABLE)
def test_the_papers_table_comes_out(paper, task, prompt):
    human, items, _, _ = paper.judgments(task, prompt)
    printed = printed_components(human, items)
    columns = (
        printed.rater,
        printed.variance_of_means,
        printed.noise_ratio,
        printed.total_less_rater,
        printed.rater / printed.total_less_rater,
    )
    assert columns == pytest.approx(TABLE[task, prompt], abs=6e-4)
    ours = variance_components(human, items, resamples=100)
    assert ours.rater.value == pytest.approx(TABLE[task, prompt][0], abs=6e-4)
    assert ours.item.value == pytest.approx(TABLE[task, prompt][3], abs=6e-4)
    assert ours.noise_ratio.value == pytest.approx(TABLE[task, prompt][4], rel=1e-3)


@pytest.mark.parametrize("task", ["cnndm", "msmarco"])
def test_the_authors_components_of_each_system_come_out(paper, task):
    for system, prompts in paper.published[task]["gamma"].items():
        for prompt, theirs in prompts.items():
            human, items, _, _ = paper.judgments(task, prompt, system)
            found = printed_components(human, items)
            expected = (theirs["sigma2_a"], theirs["sigma2_f"], theirs["nu"])
            got = (found.rater, found.variance_of_means, found.noise_ratio)
            assert got == pytest.approx(expected, rel=1e-9), (system, prompt)


def test_all_the_authors_correlations_come_out(paper):
    compared = 0
    for task, results in paper.published.items():
        for prompt, metrics in results["correlation"].items():
            for metric, systems in metrics.items():
                for system, theirs in systems.items():
                    human, items, g, gold = paper.judgments(task, prompt, system, metric)
                    found = authors_correlation(human, g, items=items, means=gold)
                    assert found == pytest.approx(theirs, abs=1e-6), (prompt, metric, system)
                    compared += 1
    assert compared == 210


def test_ours_are_close_to_the_authors_correlations(paper):
    for task, results in paper.published.items():
        for prompt, metrics in results["correlation"].items():
            for metric, systems in metrics.items():
                for system, theirs in systems.items():
                    human, items, g, _ = paper.judgments(task, prompt, system, metric)
                    found = correlation(human, g, items=items, resamples=50, level=0.9).value
                    where = (prompt, metric, system)
                    # On the same mean judgments the two formulas differ by terms of order 1/n ...
                    same = authors_correlation(human, g, items=items)
                    assert found == pytest.approx(same, abs=0.001), where
                    # ... but 64 of the means behind the MS MARCO results leave a judgment out, which
                    # moves one of the 210 a little further.
                    far = where == ("AnyCorrect", "sim", "snet.single")
                    assert found == pytest.approx(theirs, abs=0.022 if far else 0.02), where
