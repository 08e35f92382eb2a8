from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError, NotEstimableError
from steelyard.questions.estimates import control_in_words
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


APART = {"slope": "least-squares", "raters_as": "fixed"}


def estimate(campaign, **options):
    return campaign.estimate(["m"], systems=["A"], **(APART | options))[0]


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
    for one in (got, bare):
        assert one.degrees_of_freedom == pytest.approx(58)
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


def with_column(campaign, name, values):
    """Return the study with one more column of outputs, by item and system."""
    rows = campaign.outputs.rows()
    made = [values(item, system) for item, system in rows.select("item", "system").iter_rows()]
    return Study.read(rows.with_columns(pl.Series(name, made)), campaign.judgments.frame)


def test_a_system_uses_the_metrics_that_it_has():
    rng = np.random.default_rng(2)
    noise = dict(enumerate(rng.normal(size=N)))
    campaign = with_column(
        study(),
        "n",
        lambda item, system: None if (system, item) == ("A", "7") else noise[int(item)],
    )
    a, b = campaign.estimate(["m", "n"])
    assert a.metrics == b.metrics == ("m", "n")
    assert a.notes[0].startswith("metric n is missing on 1 of 60 outputs: they are corrected by")
    a, b = campaign.estimate(["m", "n"], **APART)
    assert (a.metrics, b.metrics) == (("m",), ("m", "n"))
    assert "metric n is missing on 1 of 60 outputs" in a.notes[0]
    [only] = campaign.estimate(["m"], systems=["A"], **APART)
    assert (a.estimate, a.low) == (only.estimate, only.low)
    # numbers for two metrics cannot be used with one
    assert campaign.estimate(["m", "n"], slope=[0.5, 0.1])[0].metrics == ()


def test_a_metric_that_is_the_same_on_all_outputs_of_a_system_is_pointed_out():
    campaign = with_column(study(), "n", lambda item, system: 1.0 if system == "A" else int(item))
    a, b = campaign.estimate()
    assert a.notes[0] == "metric n is the same on all outputs: it cannot correct this system"
    assert not any("metric n" in note for note in b.notes)


def test_what_carries_the_control_is_said_of_all_systems_at_once():
    campaign = with_column(study(judged={"A": range(30), "B": range(30)}), "n", lambda *_: 0.0)
    found = campaign.estimate(["m", "n"])
    assert control_in_words(found) == "control learned from m 100% and 1 more"
    unused = [replace(one, shares=(0.0, 0.0)) for one in found]
    assert control_in_words([unused[0], found[1]]) == control_in_words(found)
    assert control_in_words(unused) == (
        "no use is made of the metrics m, n: judgments do not follow them"
    )
    assert control_in_words(campaign.estimate(["m"], **APART)) is None


def test_when_no_system_can_be_estimated_each_has_its_reason():
    campaign = study(judged={"A": [3], "B": [4]})
    for ask in (campaign.estimate, campaign.diagnose):
        with pytest.raises(NotEstimableError, match="prompt 'p', system 'A': ") as refused:
            ask(["m"])
        assert {("p", "A"), ("p", "B")} <= set(refused.value.reasons)
        assert all(refused.value.reasons.values())


def test_a_system_with_one_judgment_is_left_out_and_the_rest_stays():
    campaign = study(judged={"A": [3], "B": range(20)})
    found = campaign.estimate(["m"])
    assert [one.system for one in found] == ["B"]
    assert found.notes == (
        "A, p: left out: an interval needs at least 2 judged outputs; got 1: judge more outputs",
    )
    with pytest.raises(NotEstimableError, match="system 'A': an interval needs at least 2"):
        campaign.estimate(["m"], systems=["A"])


def test_a_column_of_clusters_is_used_without_being_named():
    plain = study(judged={"A": range(24)})
    campaign = with_column(plain, "cluster", lambda item, _: f"c{int(item) // 4}")
    named = with_column(plain, "page", lambda item, _: f"c{int(item) // 4}")
    [default] = campaign.estimate(["m"])
    assert default.degrees_of_freedom < 6
    assert named.estimate(["m"], cluster_by="page") == [default]
    [got] = campaign.estimate(["m"], **APART)
    assert got.method == "clustered-control-variates/least-squares/student"
    assert got.degrees_of_freedom < 6
    assert got.estimate == pytest.approx(plain.estimate(["m"], **APART)[0].estimate)
    assert named.estimate(["m"], cluster_by="page", **APART) == [got]
    broken = with_column(plain, "page", lambda item, _: None if item == "5" else "c")
    with pytest.raises(InvalidDataError, match="item '5' of system 'A' has no cluster"):
        broken.estimate(["m"], cluster_by="page")
    with pytest.raises(InvalidArgumentError, match="`cluster_by` must be a column"):
        plain.estimate(["m"], cluster_by="page")


def test_a_score_outside_the_bounds_is_refused_for_every_draw():
    with pytest.raises(InvalidArgumentError, match=r"score 1 .* outside `bounds` \[0, 0.5\]"):
        study().estimate(["m"], bounds=(0, 0.5))
