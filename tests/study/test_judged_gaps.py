import numpy as np
import polars as pl
import pytest
from scipy import stats

from steelyard import Study
from steelyard.study.judged_gaps import _log_tails


def campaign(has, *, systems="abcd", size=60, n=20, seed=0, fill=None):
    """A study with a metric `copy` of the scores, on the outputs where rng.random() < has[judged]."""
    rng = np.random.default_rng(seed)
    outputs, judgments = [], []
    for system in systems:
        drawn = set(rng.choice(size, n, replace=False).tolist())
        for item in range(size):
            score = float(rng.integers(1, 6))
            copy = score if rng.random() < has[item in drawn] else fill
            row = {"item": item, "system": system, "length": rng.normal(), "copy": copy}
            outputs.append(row)
            if item in drawn:
                row = {"item": item, "system": system, "rater": f"r{rng.integers(6)}"}
                judgments.append(row | {"prompt": "p", "score": score})
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))


def test_a_metric_on_the_judged_outputs_alone_corrects_nothing():
    study = campaign((0, 1))
    found = study.estimate()
    for one in found:
        assert one.high - one.low > 0.8  # 2.1 times 1.4 / sqrt(20) on either side, about
        assert one.notes[0].startswith(
            "metric copy is not used: 80 of 80 judged outputs have it, and 0 of 160 others"
        )
    [compared] = study.compare()
    assert any(note.startswith("metric copy is not used") for note in compared.notes)
    assert all(pair.high - pair.low > 0.8 for pair in compared.pairs)


def test_a_metric_that_judged_outputs_have_more_often_corrects_nothing():
    study = campaign((0.4, 0.9))
    assert "metric copy is not used" in study.estimate()["a"].notes[0]


@pytest.mark.parametrize("seed", range(5))
def test_gaps_at_random_leave_a_metric_in_use(seed):
    study = campaign((0.7, 0.7), seed=seed)
    one = study.estimate()["a"]
    assert one.notes[0].startswith("metric copy is missing on")
    assert one.data_efficiency > 1.5


def test_one_gap_that_happens_to_be_unjudged_leaves_a_metric_in_use():
    study = campaign((0, 1), systems="a", size=21)
    assert "metric copy is missing on 1 of 21" in study.estimate()["a"].notes[0]


def test_tails_are_those_of_the_hypergeometric_distribution():
    few, many = np.exp(_log_tails(4, 10, 12, 30))
    expected = stats.hypergeom(30, 12, 10)
    assert few == pytest.approx(expected.cdf(4))
    assert many == pytest.approx(expected.sf(3))


@pytest.mark.parametrize("fill", [0.0, 3.0, 1e6])
def test_a_metric_made_from_the_judgments_and_filled_in_elsewhere_corrects_nothing(fill):
    study = campaign((0, 1), fill=fill)
    for one in study.estimate():
        assert one.high - one.low > 0.8
        assert any(
            "metric copy is not used: it is the same on all 160 outputs that nobody judged" in note
            for note in one.notes
        )
    [compared] = study.compare()
    assert all(pair.high - pair.low > 0.8 for pair in compared.pairs)


def test_a_rare_value_that_happens_to_be_judged_leaves_a_metric_in_use():
    rng = np.random.default_rng(3)
    outputs = pl.DataFrame({"item": range(40), "system": "a", "empty": [1.0, 1.0] + [0.0] * 38})
    judged = {"item": range(20), "system": "a", "prompt": "p", "score": rng.normal(size=20)}
    one = Study.read(outputs, pl.DataFrame(judged).with_columns(rater=pl.lit("r"))).estimate()["a"]
    assert not any("not used" in note for note in one.notes)


def test_a_metric_far_from_zero_is_not_taken_for_one_that_was_filled_in():
    rng = np.random.default_rng(4)
    outputs = pl.DataFrame({"item": range(400), "system": "a", "m": 1e6 + rng.normal(size=400)})
    judged = {"item": range(40), "system": "a", "prompt": "p", "score": rng.normal(size=40)}
    one = Study.read(outputs, pl.DataFrame(judged).with_columns(rater=pl.lit("r"))).estimate()["a"]
    assert not any("not used" in note for note in one.notes)


def test_a_metric_that_is_the_judgments_gets_a_note():
    one = campaign((1, 1)).estimate()["a"]
    assert one.notes[0].startswith("metric copy is the mean judgment of all 20 judged outputs")
    assert not any("mean judgment" in note for note in campaign((0.7, 0.7)).estimate()["a"].notes)
