from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError, NotEstimableError
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


def with_column(campaign, name, values):
    """Return the study with one more column of outputs, by item and system."""
    rows = campaign.outputs.rows()
    made = [values(item, system) for item, system in rows.select("item", "system").iter_rows()]
    return Study.read(rows.with_columns(pl.Series(name, made)), campaign.judgments.frame)


def test_a_gap_of_a_metric_costs_no_system_the_metric():
    rng = np.random.default_rng(2)
    noise = dict(enumerate(rng.normal(size=N)))
    campaign = with_column(
        study(),
        "n",
        lambda item, system: None if (system, item) == ("A", "7") else noise[int(item)],
    )
    a, b = campaign.estimate(["m", "n"])
    assert a.metrics == b.metrics == ("m", "n")
    assert a.notes == (
        "metric n is missing on 1 of 60 outputs: each counts as the mean of the others",
    )
    assert not b.notes


def test_a_metric_that_is_the_same_on_all_outputs_of_a_system_is_pointed_out():
    campaign = with_column(study(), "n", lambda item, system: 1.0 if system == "A" else int(item))
    a, b = campaign.estimate()
    assert a.notes[0] == "metric n is the same on all outputs: it cannot correct this system"
    assert not any("metric n" in note for note in b.notes)


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
        "only one rater is known: the intervals are about exactly these raters, and may be too short for others",
    )
    with pytest.raises(NotEstimableError, match="system 'A': an interval needs at least 2"):
        campaign.estimate(["m"], systems=["A"])


def test_a_column_of_clusters_is_used_without_being_named():
    plain = study(judged={"A": range(24)})
    campaign = with_column(plain, "cluster", lambda item, _: f"c{int(item) // 4}")
    named = with_column(plain, "page", lambda item, _: f"c{int(item) // 4}")
    named = Study.read(named.outputs.rows(), named.judgments.frame, columns={"cluster": "page"})
    [default] = campaign.estimate(["m"])
    assert default != plain.estimate(["m"])[0]
    assert named.estimate(["m"]) == [default]
    broken = with_column(plain, "cluster", lambda item, _: None if item == "5" else "c")
    with pytest.raises(InvalidDataError, match="item '5' of system 'A' has no cluster"):
        broken.estimate(["m"])
    with pytest.raises(
        InvalidArgumentError, match="'page' is mapped to 'cluster' but found in neither"
    ):
        Study.read(plain.outputs.rows(), plain.judgments.frame, columns={"cluster": "page"})


def test_a_score_outside_the_bounds_is_refused_for_every_draw():
    with pytest.raises(InvalidArgumentError, match=r"score 1 .* outside `bounds` \[0, 0.5\]"):
        replace(study(), bounds=(0, 0.5)).estimate(["m"])
