from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from simulated_campaign import CONTRARY, GOOD, HASTY, begin, work, write_campaign
from tests.collect.queries import scored_rows

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.config.parts import Gold, Session
from steelyard.collect.policy.budget import spent
from steelyard.collect.policy.exclusion import FEWEST, due, exclude, flags_of, rules_in_words
from steelyard.collect.policy.rater_work import RaterAgreement, RaterWork
from steelyard.collect.store import Store
from steelyard.collect.store.decisions import decide, history
from steelyard.collect.store.progress import RaterRow, progress, rater_rows
from steelyard.collect.store.records import submission_rows


@pytest.fixture
def rules(tmp_path):
    """A campaign with rules and no gold."""
    return load_campaign(write_campaign(tmp_path, pool=20, sample={"n": 5, "seed": 1}))


def rater(**changes):
    known = {
        "id": "r",
        "number": 1,
        "panel": "open",
        "external_id": "x",
        "joined": 0,
        "excluded": False,
        "judgments": 9,
        "gold": 0,
        "handed_back": 0,
        "earned": 0,
        "last_seen": None,
        "tutorials": {},
    }
    return RaterRow(**known | changes)


def work_of(**changes):
    known = {
        "rater": "r",
        "judgments": 9,
        "median_seconds": 30.0,
        "edits": 9,
        "median_edit": 9.0,
        "gold": 0,
        "gold_missed": 0,
        "agreement": RaterAgreement("r", 9, 36, 0.9, 0.0),
    }
    return RaterWork(**known | changes)


def flagged(campaign, **changes):
    return [one.rule for one in flags_of(campaign, rater(), work_of(**changes))]


def test_careful_work_is_not_flagged(rules):
    assert flagged(rules) == []


def test_too_little_time_is_flagged_once_there_are_a_few_judgments(rules):
    assert flagged(rules, median_seconds=4.9) == ["active-time"]
    assert flagged(rules, median_seconds=5.0) == []
    assert flagged(rules, median_seconds=1.0, judgments=FEWEST - 1) == []


@pytest.mark.parametrize(
    ("session", "gold", "least"),
    [
        ({"judgments": 3}, None, 3),
        ({"judgments": 3, "visits": 2}, None, FEWEST),
        ({"judgments": 9, "judgments_per_rater": 2}, None, 2),
        ({"judgments": 5}, 2, 2),
        ({"judgments": 1}, 2, 1),
    ],
)
def test_in_short_visits_a_median_of_all_that_one_can_give_is_enough(rules, session, gold, least):
    short = rules.model_copy(
        update={
            "session": Session(**session),
            "gold": None if gold is None else Gold(file=Path("gold.jsonl"), every=gold),
        }
    )
    assert flagged(short, median_seconds=1.0, judgments=least) == ["active-time"]
    assert flagged(short, median_seconds=1.0, judgments=least - 1) == []
    assert f"once there are {least}, is at least" in rules_in_words(short)[0]


def test_short_edits_are_flagged_once_there_are_a_few(rules):
    assert flagged(rules, median_edit=2.5) == ["edits"]
    assert flagged(rules, median_edit=3.0) == []
    assert flagged(rules, median_edit=1.0, edits=FEWEST - 1) == []


def test_low_agreement_is_flagged_once_enough_outputs_were_judged_by_others(rules):
    low = RaterAgreement("r", 10, 40, 0.59, 0.0)
    assert flagged(rules, agreement=low) == ["agreement"]
    assert flagged(rules, agreement=replace(low, share=0.6)) == []
    assert flagged(rules, agreement=replace(low, submissions=9)) == []
    assert flagged(rules, agreement=None) == []


def test_missed_gold_is_flagged_if_a_number_was_declared(tmp_path):
    gold = '{"output": "Is bad this.", "answer": {"fluency": [1]}}\n'
    path = write_campaign(
        tmp_path,
        pool=20,
        sample={"n": 5, "seed": 1},
        gold={"file": "gold.jsonl", "every": 2},
        quality={"gold_failures": 2},
    )
    (tmp_path / "gold.jsonl").write_text(gold)
    campaign = load_campaign(path)
    assert flagged(campaign, gold=3, gold_missed=2) == ["gold"]
    assert flagged(campaign, gold=3, gold_missed=1) == []
    [flag] = flags_of(campaign, rater(), work_of(gold=3, gold_missed=2))
    assert flag.excludes
    assert flag.reason.startswith("2 of 3 gold items were answered wrongly")


def test_a_failed_tutorial_is_flagged_but_excludes_nobody(rules):
    failed = rater(tutorials={rules.task.version: False})
    [flag] = flags_of(rules, failed, None)
    assert (flag.rule, flag.excludes) == ("tutorial", False)
    assert flags_of(rules, rater(tutorials={"older": False}), None) == ()


def test_a_rule_that_is_not_declared_flags_nobody(tmp_path):
    campaign = load_campaign(
        write_campaign(tmp_path, pool=20, sample={"n": 5, "seed": 1}, quality={})
    )
    none = RaterAgreement("r", 90, 360, 0.0, 0.0)
    assert flagged(campaign, median_seconds=0.1, median_edit=0.0, agreement=none) == []
    assert rules_in_words(campaign) == ()


def test_rules_are_told_in_words(rules):
    words = " ".join(rules_in_words(rules))
    for part in ("5 seconds", "edits change", "60%", "within a quarter of the scale of theirs"):
        assert part in words


@pytest.fixture
def judged(store, tmp_path):
    """A campaign, on both databases, with a rater who is hasty and one who is contrary."""
    path = write_campaign(tmp_path, pool=60, systems=1, sample={"n": 30, "seed": 1})
    campaign = begin(path, store)
    people = [GOOD] * 4 + [replace(HASTY, most=8), replace(CONTRARY, most=12)]
    return campaign, store, work(campaign, store, people, judgments=60)


def test_rules_exclude_with_a_reason_ask_others_and_leave_payment_alone(judged):
    campaign, store, now = judged
    before = len(store.read(scored_rows)), store.read(spent)
    assert exclude(store, due(campaign, store), now=now) >= 1
    decisions = {one.rater: one for one in store.read(history)}
    assert decisions["id-0-4"].verdict == "exclude"
    assert decisions["id-0-4"].by == "rule"
    assert "Median time" in decisions["id-0-4"].reason
    assert {one.about for one in decisions.values()} == {"estimate"}
    # nothing is deleted, and nothing is unpaid
    assert (len(store.read(scored_rows)), store.read(spent)) == before
    fallen = {one.unit for one in store.read(submission_rows) if one.rater == "id-0-4"}
    assert store.read(partial(progress, now=now)).lacking >= len(fallen) > 0


def test_rules_are_applied_once(judged):
    campaign, store, now = judged
    exclude(store, due(campaign, store), now=now)
    decided = store.read(history)
    assert exclude(store, due(campaign, store), now=now + 1) == 0
    assert store.read(history) == decided


def test_no_rule_overrules_the_person_in_charge(judged):
    campaign, store, now = judged
    kept = partial(
        decide,
        rater="id-0-4",
        about="estimate",
        verdict="include",
        reason="I watched them",
        by="admin",
        now=now,
    )
    store.write(kept).result()
    exclude(store, due(campaign, store), now=now + 1)
    [only] = [one for one in store.read(history) if one.rater == "id-0-4"]
    assert only.verdict == "include"
    excluded = {one.id for one in store.read(rater_rows) if one.excluded}
    assert "id-0-4" not in excluded


def test_without_rules_nothing_is_read_and_nobody_is_excluded(tmp_path):
    path = write_campaign(tmp_path, pool=20, systems=1, sample={"n": 5, "seed": 1}, quality={})
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        work(campaign, store, [HASTY], judgments=5)
        assert due(campaign, store) == {}
        assert store.read(history) == []
