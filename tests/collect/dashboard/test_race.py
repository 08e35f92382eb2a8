from functools import partial

import pytest
from simulated_campaign import GOOD, START, begin, work, write_campaign
from sqlalchemy import func, select

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.dashboard.snapshot import snapshot
from steelyard.collect.policy.stopping import let_go, pause_at_goal
from steelyard.collect.store import Store
from steelyard.collect.store.leases import next_lease
from steelyard.collect.store.raters import join, open_session
from steelyard.collect.store.settings import change
from steelyard.collect.store.tables import slots, submissions, targets
from steelyard.errors import InvalidDataError

RACE = {"decide": "best", "prompts": ["overall"]}


@pytest.fixture(scope="module")
def racing(tmp_path_factory):
    """A race of three systems after 120 judgments."""
    folder = tmp_path_factory.mktemp("racing")
    path = write_campaign(
        folder, pool=300, sample={"n": 200, "seed": 1}, judgments_per_output=1, goal=RACE
    )
    with Store.open(folder / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 6, judgments=120)
        yield campaign, store, now


def offered(store, system):
    """Return how many slots of units that only this system wrote are given out."""
    others = select(targets.c.unit).where(targets.c.system != system)
    own = select(targets.c.unit).where(targets.c.system == system, targets.c.unit.not_in(others))
    found = select(func.count()).where(
        slots.c.unit.in_(own), ~slots.c.done, slots.c.offered, slots.c.rater.is_(None)
    )
    return store.read(lambda connection: connection.execute(found).scalar_one())


def judged(store, system):
    others = select(targets.c.unit).where(targets.c.system != system)
    found = (
        select(func.count())
        .select_from(submissions)
        .where(
            submissions.c.unit.in_(select(targets.c.unit).where(targets.c.system == system)),
            submissions.c.unit.not_in(others),
        )
    )
    return store.read(lambda connection: connection.execute(found).scalar_one())


def test_a_race_over_a_prompt_that_counts_edits_looks_for_the_fewest(racing):
    campaign, store, now = racing
    goal = campaign.goal.model_copy(update={"prompts": ("Edit",)})
    made = snapshot(campaign.model_copy(update={"goal": goal}), store, now=now)
    [race] = [one for one in made["prompts"] if one["in_goal"]]
    assert race["systems"][0]["system"] == "large-tuned"
    assert "large-tuned" not in made["enough"]


def test_a_race_lets_losers_go_and_gives_their_units_no_more(racing):
    campaign, store, now = racing
    made = snapshot(campaign, store, now=now)
    [race] = [one for one in made["prompts"] if one["in_goal"]]
    assert made["enough"] == ["baseline"]
    assert not race["reached"]
    assert {one["system"] for one in race["systems"] if not one["out"]} == {"large", "large-tuned"}
    assert "Best: large-tuned or large" in race["answer"]
    assert made["goal"]["decide"] == "best"
    assert made["signal"]["title"] == "Go on"
    assert made["pace"]["towards"] == "goal"
    assert made["progress"]["planned"] < 600
    assert offered(store, "baseline") > 0
    changed = store.write(partial(let_go, systems=["baseline"], now=now)).result()
    assert changed > 0
    assert offered(store, "baseline") == 0
    assert store.write(partial(let_go, systems=["baseline"], now=now)).result() == 0
    before = judged(store, "baseline"), judged(store, "large")
    later = work(campaign, store, [GOOD] * 6, judgments=160, start=now, seed=1)
    assert judged(store, "baseline") - before[0] <= 6  # what raters held
    assert judged(store, "large") > before[1]
    again = snapshot(campaign, store, now=later)
    assert "baseline" in again["enough"]
    # in again, it gets its units back
    assert store.write(partial(let_go, systems=[], now=later)).result() > 0
    assert offered(store, "baseline") > 0


def test_a_race_that_is_decided_pauses_the_campaign_once(tmp_path):
    path = write_campaign(
        tmp_path,
        pool=60,
        sample={"n": 60, "seed": 1},
        judgments_per_output=1,
        goal={**RACE, "margin": 0.5},
    )
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 6, judgments=180)
        made = snapshot(campaign, store, now=now)
        assert made["signal"]["title"] == "You can stop: the race is decided"
        assert "large-tuned is the best." in made["signal"]["reason"]
        over = partial(pause_at_goal, half_width=None, now=now)
        assert store.write(over).result()
        rater = store.write(partial(join, panel="invitation", external_id="late", now=now)).result()
        visit = partial(open_session, rater=rater, panel_session="", parameters={}, now=now)
        session = store.write(visit).result()
        ask = partial(next_lease, session=session.id, rater=rater, now=now, lease_ms=1000)
        assert store.write(ask).result() == "enough"
        store.write(partial(change, state="running", now=now)).result()
        assert not store.write(over).result()


def test_a_race_that_outruns_its_draw_or_its_budget_says_so(tmp_path):
    path = write_campaign(
        tmp_path,
        pool=200,
        systems=2,
        sample={"n": 6, "seed": 1},
        judgments_per_output=1,
        goal={**RACE, "budget": 100.0},
    )
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 6, judgments=12)
        over = snapshot(campaign, store, now=now)["signal"]
        assert over["title"] == "Everything is judged"
        assert "cannot be told apart" in over["reason"]
        assert over["reason"].endswith("Add outputs to go on.")
        store.write(partial(change, budget=1, now=now)).result()
        spent = snapshot(campaign, store, now=now)["signal"]
        assert spent["title"] == "Stop: the budget is spent"
        assert "cannot be told apart" in spent["reason"]


def test_a_race_begins_when_all_systems_have_judgments(tmp_path):
    path = write_campaign(tmp_path, pool=40, sample={"n": 20, "seed": 1}, goal=RACE)
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        made = snapshot(campaign, store, now=START)
    assert made["enough"] == []
    assert made["signal"]["reason"].startswith("The race begins when baseline")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"goal": {"level": 0.9}}, "goal: must have either half_width or decide"),
        ({"goal": {**RACE, "half_width": 0.1}}, "goal: must have either half_width or decide"),
        ({"goal": {"half_width": 0.1, "margin": 0.1}}, "margin: goes with decide only"),
        ({"goal": {"decide": "difference"}}, "margin: is needed to decide differences"),
        ({"goal": {"decide": "order", "margin": 1}}, "margin: does not go with order"),
        (
            {"goal": {**RACE, "method": "betting"}},
            "goal.method: is gone: intervals that hold at all times",
        ),
        (
            {"goal": RACE, "sample": {"n": 9, "seed": 1, "same_items": False}},
            "same_items: must be true: systems race on the same items",
        ),
    ],
)
def test_goals_that_cannot_be_are_refused(tmp_path, keys, message):
    path = write_campaign(tmp_path, pool=20, **keys)
    with pytest.raises(InvalidDataError, match=message):
        load_campaign(path)
