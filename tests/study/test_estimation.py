import numpy as np
import polars as pl
import pytest

from steelyard.study import Study

N = 60


def study(*, again=0, judged=None, seed=0):
    """Two systems; outputs of A are judged once, `again` of B's twice."""
    rng = np.random.default_rng(seed)
    judged = {"A": range(N), "B": range(N)} if judged is None else judged
    outputs, judgments = [], []
    for system, items in judged.items():
        score = rng.choice([0.1, 0.9], size=N)
        metric = score + 0.3 * rng.normal(size=N)
        outputs += [{"item": i, "system": system, "m": metric[i]} for i in range(N)]
        twice = list(items)[:again] if system == "B" else []
        judgments += [
            {
                "item": i,
                "system": system,
                "rater": rater,
                "prompt": "p",
                "score": float(rng.random() < score[i]),
            }
            for rater, chosen in (("one", items), ("two", twice))
            for i in chosen
        ]
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))


def estimate(campaign, **options):
    return campaign.estimate(["m"], systems=["A"], **options)[0]


def test_a_lent_rater_variance_carries_its_degrees_of_freedom():
    got = estimate(study(again=10, seed=1))
    # all outputs are judged, so that rater noise is all the error: ten outputs and an imagined one
    assert got.degrees_of_freedom == pytest.approx(11)
    assert "all systems together" in got.notes[0]
    assert got.half_width < estimate(study(seed=1)).half_width


def test_a_lent_rater_variance_above_the_whole_spread_is_not_believed():
    # with this seed B's raters agree less on ten outputs than A's scores vary around the metric
    got, bare = estimate(study(again=10)), estimate(study())
    assert got.half_width == pytest.approx(bare.half_width)
    assert not any("all systems" in note for note in got.notes)


@pytest.mark.parametrize("again", [1, 4])
def test_too_few_second_judgments_are_not_lent(again):
    got, bare = estimate(study(again=again)), estimate(study())
    assert got.degrees_of_freedom == bare.degrees_of_freedom == 58
    assert "no output has two judgments" in got.notes[0]


def test_a_slope_pooled_over_the_same_items_is_pointed_out():
    same = {"A": range(20), "B": range(20)}
    apart = {"A": range(20), "B": range(15, 35)}
    note = "other systems were judged on the same items"
    assert note in estimate(study(judged=same), slope="pooled").notes[-1]
    for campaign, slope in ((apart, "pooled"), (same, "least-squares")):
        notes = estimate(study(judged=campaign), slope=slope).notes
        assert not any(note in one for one in notes)


def test_a_pool_that_was_judged_whole_has_no_draw_to_share():
    notes = estimate(study(), slope="pooled").notes
    assert not any("same items" in one for one in notes)
