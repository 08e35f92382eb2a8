import numpy as np
import polars as pl
import pytest

from steelyard.study import Study

MISSING = "its judgments are not missing by chance"
RARE = "of all variation in scores"


def campaign(keep, *, seed=0, systems="abc", size=100, judged=60, score=None):
    """Systems judged on the first items, but where `keep` says no; `score` makes the scores."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=size)
    outputs, rows = [], []
    for system in systems:
        own = hard + 0.7 * rng.normal(size=size) if score is None else score(rng, size)
        for item in range(size):
            outputs.append({"item": item, "system": system, "output": f"text {item} of {system}"})
            if item < judged and keep(system, item, own[item]):
                rows.append({"item": item, "system": system, "prompt": "p", "score": own[item]})
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(rows))


def warned(study):
    return {one.system for one in study.estimate() if any(MISSING in note for note in one.notes)}


def test_low_scores_of_one_system_that_are_missing_are_found_before_estimates_and_comparisons():
    study = campaign(lambda system, _, score: system != "b" or score > -0.5)
    assert warned(study) == {"b"}
    [compared] = study.compare()
    [note] = [note for note in compared.notes if MISSING in note]
    assert note.startswith("b: on ")
    assert "the other systems score lower than where it was" in note


def test_hard_items_that_one_system_lacks_are_found():
    everyone = campaign(lambda *_: True)
    scores = everyone.judgments.frame.group_by("item").agg(pl.col("score").mean())
    hard = set(scores.sort("score").head(20)["item"].cast(pl.Int64))
    study = campaign(lambda system, item, _: system != "a" or item not in hard)
    assert warned(study) == {"a"}


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_judgments_that_are_missing_by_chance_are_not_accused(share):
    rng = np.random.default_rng(1)
    accused = [warned(campaign(lambda *_: rng.random() < share, seed=seed)) for seed in range(30)]
    assert sum(map(bool, accused)) <= 1


def test_rare_huge_errors_cannot_be_known_from_few_judgments():
    """One output in a hundred has 25, as a critical error has in MQM; the others have 0 to 2."""

    def errors(rng, size):
        return np.where(rng.random(size) < 0.01, 25.0, rng.integers(0, 3, size))

    def noted(judged):
        study = campaign(
            lambda *_: True, seed=3, systems="abcd", size=1500, judged=judged, score=errors
        )
        return [note for note in study.estimate().notes if RARE in note]

    [few] = noted(60)
    assert "so that it cannot be known from so few: judge " in few
    assert noted(1200) == []


@pytest.mark.parametrize("shape", ["normal", "exponential", "uniform"])
def test_scores_without_rare_ones_are_not_accused(shape):
    for seed in range(10):
        study = campaign(
            lambda *_: True, seed=seed, score=lambda rng, size: getattr(rng, shape)(size=size)
        )
        assert not any(RARE in note for note in study.estimate().notes)


def census(*, raters, leniency):
    """Every output judged once; `leniency` of the first of `raters` raters."""
    rng = np.random.default_rng(2)
    outputs, rows = [], []
    for system in "ab":
        for item in range(40):
            outputs.append({"item": item, "system": system, "output": f"text {item} of {system}"})
            rater = rng.integers(raters) if system == "a" else rng.integers(1, raters)
            row = {"item": item, "system": system, "rater": f"r{rater}", "prompt": "p"}
            rows.append(row | {"score": rng.normal() + leniency * (rater == 0)})
    return pl.DataFrame(outputs), pl.DataFrame(rows)


def test_a_pool_that_was_judged_whole_keeps_its_plain_mean():
    outputs, rows = census(raters=5, leniency=0.0)
    for one in Study.read(outputs, rows.drop("rater")).estimate():
        assert one.estimate == pytest.approx(one.baseline.estimate, abs=1e-9)
        assert not any("every output was judged" in note for note in one.notes)


def test_a_pool_that_was_judged_whole_is_moved_by_leniency_and_says_so():
    found = Study.read(*census(raters=5, leniency=4.0)).estimate()
    rows = census(raters=5, leniency=4.0)[1].filter(pl.col("system") == "a")
    lenient = 4.0 * (rows["rater"] == "r0").mean()
    moved = found["a"].baseline.estimate - found["a"].estimate
    assert 0 < moved < lenient
    assert any("every output was judged; the estimate moves" in note for note in found["a"].notes)
