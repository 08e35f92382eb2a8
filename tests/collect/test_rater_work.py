from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest
from simulated_campaign import CONTRARY, GOOD, HASTY, begin, work, write_campaign

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.policy.rater_work import edited_characters, rater_agreement, rater_work
from steelyard.collect.store.records import submission_rows
from steelyard.collect.tasks import visible_widgets


def test_conduct_is_counted_from_what_was_submitted(store, tmp_path):
    path = write_campaign(tmp_path, pool=60, systems=1, sample={"n": 30, "seed": 1})
    campaign = begin(path, store)
    people = [GOOD] * 4 + [replace(HASTY, most=8), replace(CONTRARY, most=12)]
    work(campaign, store, people, judgments=60)
    submitted = store.read(submission_rows)
    found = rater_work(campaign, submitted)
    assert sum(one.judgments for one in found.values()) == len(submitted) == 60
    hasty = found["id-0-4"]
    assert hasty.judgments == 8
    own = sorted(one.active_ms for one in submitted if one.rater == "id-0-4")
    assert hasty.median_seconds == pytest.approx((own[3] + own[4]) / 2000)
    assert hasty.median_edit == 1
    assert found["id-0-0"].median_edit == 12
    assert found["id-0-5"].agreement.leniency < -0.2


def test_nobody_has_a_conduct_before_the_first_submission(tmp_path):
    path = write_campaign(tmp_path, pool=20, sample={"n": 5, "seed": 1})
    assert rater_work(load_campaign(path), []) == {}


def test_an_edit_that_was_not_required_is_not_counted(tmp_path):
    task = load_campaign(write_campaign(tmp_path, pool=20, sample={"n": 5, "seed": 1})).task
    answer = {"fluency": 3, "redundancy": 3, "overall": 3, "edit": "A texts."}
    given = SimpleNamespace(content={"output": "A text."}, answer=answer)
    assert edited_characters(visible_widgets(task, answer), given) is None
    given.answer = answer | {"fluency": 2}
    assert edited_characters(visible_widgets(task, given.answer), given) == 1


def rows(*judged):
    names = ("submission", "unit", "rater", "prompt", "score")
    return pl.DataFrame([dict(zip(names, one, strict=True)) for one in judged])


def test_a_rater_is_compared_with_each_of_the_others():
    # a says 1 where b and c say 0 and 1: one pair of two agrees, on average 0.5 of 2 above
    found = rater_agreement(
        rows((1, 1, "a", "p", 1.0), (2, 1, "b", "p", 0.0), (3, 1, "c", "p", 1.0)),
        bounds={"p": (0, 2)},
        distance=0.25,
    )
    assert (found["a"].share, found["a"].comparisons, found["a"].submissions) == (0.5, 2, 1)
    assert found["a"].leniency == pytest.approx(0.25)
    assert found["b"].share == 0
    assert found["b"].leniency == pytest.approx(-0.5)


def test_units_that_nobody_else_judged_tell_nothing():
    found = rater_agreement(rows((1, 1, "a", "p", 1.0)), bounds={"p": (0, 1)}, distance=0.5)
    assert found == {}


def test_a_judgment_that_counts_for_two_systems_is_taken_once():
    shared = rows((1, 1, "a", "p", 1.0), (2, 1, "b", "p", 1.0))
    once = rater_agreement(shared, bounds={"p": (0, 1)}, distance=0)
    twice = rater_agreement(pl.concat([shared, shared]), bounds={"p": (0, 1)}, distance=0)
    assert once == twice
    assert once["a"].submissions == 1


def test_leniency_is_a_share_of_the_range_of_each_prompt():
    found = rater_agreement(
        rows(
            (1, 1, "a", "slider", 60.0),
            (1, 1, "a", "level", 2.0),
            (2, 1, "b", "slider", 40.0),
            (2, 1, "b", "level", 0.0),
        ),
        bounds={"slider": (0, 100), "level": (0, 2)},
        distance=0.2,
    )
    assert found["a"].share == 0.5
    assert found["a"].leniency == pytest.approx((0.2 + 1) / 2)
    assert found["a"].submissions == 1


def test_a_prompt_that_is_not_asked_about_is_left_out():
    rows_of_two = rows((1, 1, "a", "p", 1.0), (2, 1, "b", "p", 9.0))
    assert rater_agreement(rows_of_two, bounds={}, distance=0.5) == {}
