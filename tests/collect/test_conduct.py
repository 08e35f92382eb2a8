from dataclasses import replace
from types import SimpleNamespace

import pytest
from simulated_campaign import CONTRARY, GOOD, HASTY, begin, work, write_campaign

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.policy.rater_work import _edited, rater_work
from steelyard.collect.store.records import submission_rows


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
    assert _edited(task, given) is None
    given.answer = answer | {"fluency": 2}
    assert _edited(task, given) == 1
