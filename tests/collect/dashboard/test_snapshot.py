import asyncio
import json
import threading
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from simulated_campaign import CONTRARY, GOOD, HASTY, MINUTE, START, begin, work, write_campaign

from steelyard.collect.dashboard import live_snapshots as following
from steelyard.collect.dashboard.exports import export
from steelyard.collect.dashboard.knowledge import knowledge, read_pool
from steelyard.collect.dashboard.live_snapshots import LiveSnapshots
from steelyard.collect.dashboard.signals import Outlook, money, pace, signal
from steelyard.collect.dashboard.snapshot import snapshot
from steelyard.collect.money import money_text
from steelyard.collect.policy.exclusion import due, exclude
from steelyard.collect.store import Store, StoreError
from steelyard.collect.store.decisions import decide
from steelyard.collect.store.judgments import judgment_rows, with_use
from steelyard.collect.store.progress import rater_rows
from steelyard.collect.store.settings import change
from steelyard.questions.goal import Goal
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs

# What never comes would be waited for so many seconds.
PATIENCE = 120


@pytest.fixture(scope="module")
def half_done(tmp_path_factory):
    """A campaign with 330 judgments, two raters of which are left out by rules."""
    folder = tmp_path_factory.mktemp("half-done")
    path = write_campaign(folder, pool=300, sample={"n": 80, "seed": 1})
    with Store.open(folder / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 12 + [HASTY, CONTRARY], judgments=330)
        exclude(store, due(campaign, store), now=now)
        yield campaign, store, now


@pytest.fixture(scope="module")
def taken(half_done):
    campaign, store, now = half_done
    return snapshot(campaign, store, now=now)


@pytest.fixture
def small(tmp_path):
    """A campaign of one system that nobody has worked on yet."""
    path = write_campaign(
        tmp_path, pool=40, systems=1, sample={"n": 12, "seed": 1}, judgments_per_output=1
    )
    with Store.open(tmp_path / "campaign.sqlite") as store:
        yield begin(path, store), store


def system(found, prompt, name):
    [chosen] = [one for one in found["prompts"] if one["prompt"] == prompt]
    [one] = [one for one in chosen["systems"] if one["system"] == name]
    return one


def test_a_snapshot_is_json_without_nan(taken):
    assert json.loads(json.dumps(taken, allow_nan=False)) == taken


def test_prompts_that_count_edits_are_better_when_lower(taken):
    lower = {one["prompt"]: one["lower_is_better"] for one in taken["prompts"]}
    assert lower == {"fluency": False, "redundancy": False, "overall": False, "Edit": True}
    sentences = {one["prompt"]: one["answer"] for one in taken["prompts"]}
    # what is better written needs fewer edits
    assert sentences["overall"].startswith("large-tuned is best, better than large by ")
    assert sentences["overall"].endswith("; then large, baseline.")
    assert sentences["Edit"].startswith("large-tuned is best, better than large by ")


def test_the_same_database_gives_the_same_snapshot(half_done, taken):
    campaign, store, now = half_done
    assert snapshot(campaign, store, now=now) == taken


def test_one_system_is_compared_with_nothing(small):
    campaign, store = small
    now = work(campaign, store, [GOOD] * 3, judgments=12)
    assert {one["answer"] for one in snapshot(campaign, store, now=now)["prompts"]} == {""}


def test_a_snapshot_shows_what_estimate_compare_and_monitor_say_of_the_export(half_done, taken):
    campaign, store, _ = half_done
    exported = pl.read_ndjson(export("judgments.jsonl", store, campaign).body)
    study = Study.read(campaign.outputs, exported, lower_is_better=["Edit"])
    # what the budget pays: 150 at 0.40 for each of three systems
    assert taken["goal"]["planned"] == pytest.approx(125)
    goals = {"overall": {"half_width": 0.15}}
    for shown in taken["prompts"]:
        prompt = shown["prompt"]
        asked = {"prompts": [prompt], "planned": 125, **goals.get(prompt, {})}
        [looked] = study.monitor(["rouge-l"], **asked)
        assert (shown["answer"], shown["reached"]) == (looked.answer, looked.reached)
        [compared] = study.compare(["rouge-l"], prompts=[prompt])
        differences = [one.difference for one in compared.pairs]
        assert [one.difference for one in looked.pairs] == pytest.approx(differences, abs=1e-12)
        means = {one.system: one for one in study.estimate(["rouge-l"], prompts=[prompt])}
        for one, own in zip(looked.systems, shown["systems"], strict=True):
            assert own["system"] == one.system
            assert own["estimate"] == pytest.approx(means[one.system].estimate, abs=1e-12)
            assert own["estimate"] == pytest.approx(one.estimate, abs=1e-12)
            assert (own["low"], own["high"]) == pytest.approx((one.low, one.high), abs=1e-12)
            assert own["enough"] == one.enough
            # an interval that holds at all looks is longer than that of one
            assert own["half_width"] > means[one.system].half_width


def of_turns(turns, **columns):
    """Judgments of the outputs with these numbers in the draw of one system."""
    count = len(turns)
    return pl.DataFrame(
        {"system": "s", "item": [f"i{turn}" for turn in turns], "turn": turns}
        | {"excluded": [False] * count, "surplus": [False] * count}
        | columns
    )


def test_one_that_is_not_back_holds_up_nobody_later_on():
    late = [turn for turn in range(1, 41) if turn != 25]
    assert set(with_use(of_turns(late))["use"]) == {"used"}


def test_what_is_back_early_is_taken_in_the_order_of_the_draw():
    # two pages may be open; before the ninth output three are not back
    used = with_use(of_turns([1, 2, 3, 5, 6, 9]))["use"]
    assert used.to_list() == ["used"] * 5 + ["ahead"]


@pytest.mark.parametrize("n", [2, 10, 30])
def test_pages_left_open_at_the_first_outputs_of_a_draw_hide_no_system(n):
    assert set(with_use(of_turns([*range(3, n + 3)]))["use"]) == {"used"}


def test_quick_answers_do_not_bias_what_is_used():
    # one output is given out every minute; a 1 is back after 2 minutes, a 0 after 50, on average
    rng = np.random.default_rng(0)
    off, all_off = [], []
    for _ in range(200):
        score = rng.permutation(np.repeat([0.0, 1.0], 100))
        back = np.arange(200) + rng.exponential(np.where(score > 0, 2, 50))
        there = np.flatnonzero(back <= 120)
        rows = with_use(of_turns((there + 1).tolist(), score=score[there]))
        off.append(rows.filter(pl.col("use") == "used")["score"].mean() or 0.5)
        all_off.append(score[there].mean())
    assert np.mean(all_off) > 0.6
    assert np.mean(off) < 0.5 + 0.08


def test_exclusions_are_counted(taken):
    assert taken["exclusions"] == {"raters": 2, "judgments": 25 + 17}


def test_raters_are_numbers_and_no_panel_id_is_in_a_snapshot(taken):
    assert "panel-id" not in json.dumps(taken)
    hasty = taken["raters"][12]
    assert hasty["number"] == 13
    assert hasty["estimate"]["verdict"] == "exclude"
    assert hasty["estimate"]["by"] == "rule"
    assert hasty["payment"] == {"verdict": "pay", "reason": None, "by": None, "time": None}
    assert {flag["rule"] for flag in hasty["flags"]} == {"active-time", "edits", "agreement"}
    assert hasty["earned"] == "10.00 USD"


def test_progress_money_and_pace_are_counted(taken):
    assert taken["progress"]["judgments"] == 330
    assert taken["money"]["spent"] == "132.00"
    assert taken["money"]["budget"] == "150.00"
    assert taken["money"]["share"] == pytest.approx(0.88)
    assert taken["pace"]["per_hour"] > 330
    assert taken["pace"]["towards"] == "goal"
    assert (taken["pace"]["reached"], taken["pace"]["end"]) == (True, None)


def test_before_the_first_judgment_there_is_a_snapshot_too(small):
    campaign, store = small
    found = snapshot(campaign, store, now=START)
    assert found["signal"]["title"] == "Waiting for judgments"
    assert found["progress"] == found["progress"] | {"judgments": 0, "planned": 12, "raters": 0}
    assert found["pace"]["per_hour"] is None
    assert all(one["systems"] == [] for one in found["prompts"])


def test_a_disk_that_is_nearly_full_is_an_alert(small, monkeypatch):
    campaign, store = small
    left = SimpleNamespace(free=12_000_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: left)
    found = snapshot(campaign, store, now=START)["alerts"]
    assert found[0].startswith("The disk of the database is nearly full: 12 MB are left.")
    left.free = 10**10
    assert snapshot(campaign, store, now=START)["alerts"] == []


def test_a_database_without_a_campaign_is_refused(small, tmp_path):
    campaign, _ = small
    with (
        Store.open(tmp_path / "other.sqlite") as other,
        pytest.raises(StoreError, match="no campaign has begun"),
    ):
        snapshot(campaign, other, now=START)


def test_reaching_the_goal_is_a_reason_to_stop(small):
    campaign, store = small
    now = work(campaign, store, [GOOD] * 3, judgments=8)
    assert snapshot(campaign, store, now=now)["signal"]["kind"] == "go"
    store.write(partial(change, half_width=50.0, now=now)).result()
    found = snapshot(campaign, store, now=now)["signal"]
    assert found["kind"] == "stop"
    assert found["title"] == "You can stop: the goal is reached"
    assert "±50" in found["reason"]
    store.write(partial(change, state="paused", now=now)).result()
    reason = snapshot(campaign, store, now=now)["signal"]["reason"]
    assert reason == f"{found['reason']} The campaign is paused: no work is given out."


def test_a_spent_budget_is_a_reason_to_stop(small):
    campaign, store = small
    now = work(campaign, store, [GOOD] * 3, judgments=6)
    store.write(partial(change, budget=2_400_000, now=now)).result()
    assert snapshot(campaign, store, now=now)["pace"]["end"] is None  # nothing more will come
    assert snapshot(campaign, store, now=now)["money"]["is_spent"]
    found = snapshot(campaign, store, now=now)["signal"]
    assert found["title"] == "Stop: the budget is spent"
    assert found["kind"] == "spent"
    assert "2.40 of 2.40 USD" in found["reason"]
    store.write(partial(change, budget=2_500_000_000, now=now)).result()
    opened = snapshot(campaign, store, now=now)
    assert opened["pace"]["end"] is not None
    assert not opened["money"]["is_spent"]


def test_a_draw_that_is_judged_ends_the_collection(small):
    campaign, store = small
    now = work(campaign, store, [GOOD] * 3, judgments=100)
    store.write(partial(change, half_width=0.5, now=now)).result()
    found = snapshot(campaign, store, now=now)
    assert found["progress"]["judgments"] == 12
    assert found["signal"]["title"] == "Everything is judged"
    assert "Add outputs" in found["signal"]["reason"]


def test_a_paused_campaign_says_so(small):
    campaign, store = small
    store.write(partial(change, state="paused", now=START)).result()
    assert snapshot(campaign, store, now=START)["signal"]["title"] == "Paused"


def test_without_a_goal_there_are_intervals_but_no_signal(tmp_path):
    path = write_campaign(
        tmp_path, pool=40, systems=1, sample={"n": 12, "seed": 1}, goal=None, metrics=[]
    )
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 3, judgments=24)
        found = snapshot(campaign, store, now=now)
    assert found["goal"]["half_width"] is None
    assert not any(one["in_goal"] for one in found["prompts"])
    one = system(found, "overall", "baseline")
    assert one["high"] > one["low"]
    assert one["enough"] is False
    assert found["pace"]["towards"] == "draw"


def test_designs_that_are_not_simple_have_their_estimates_and_intervals(tmp_path):
    from steelyard.sampling.sample import sample

    path = write_campaign(tmp_path, pool=60, systems=1, sample="sample.jsonl")
    outputs = read_outputs(tmp_path / "outputs.jsonl")
    drawn = sample(outputs, 24, strata="rouge-l:2", seed=1).frame
    (tmp_path / "sample.jsonl").write_text(drawn.write_ndjson(), "utf-8")
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 4, judgments=48)
        found = snapshot(campaign, store, now=now)
        judged = read_judgments(pl.read_ndjson(export("judgments.jsonl", store, campaign).body))
    one = system(found, "overall", "baseline")
    study = Study(outputs, judged.filter(pl.col("prompt") == "overall"))
    [expected] = study.estimate(campaign.metrics)
    assert one["estimate"] == pytest.approx(expected.estimate)
    assert one["low"] < expected.low
    # all is judged, and the goal was not reached
    assert found["signal"]["kind"] == "spent"


def test_a_pairwise_campaign_estimates_preferences_where_systems_differ(tmp_path):
    path = write_campaign(
        tmp_path,
        pool=80,
        systems=2,
        task="pairwise",
        sample={"n": 20, "seed": 1, "systems": ["large", "baseline"]},
        goal={"half_width": 0.1},
        quality={},
    )
    text = (tmp_path / "outputs.jsonl").read_text().replace('"output"', '"input": "?", "output"')
    (tmp_path / "outputs.jsonl").write_text(text)
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 4, judgments=40, prefers="large")
        found = snapshot(campaign, store, now=now)
    prompt = found["prompts"][0]["prompt"]
    large, baseline = (system(found, prompt, name) for name in ("large", "baseline"))
    assert large["estimate"] == pytest.approx(1, abs=0.03)
    assert baseline["estimate"] == pytest.approx(1 - large["estimate"])
    assert large["low"] > baseline["high"]
    assert large["pool_size"] < 80
    assert any("on which the two systems differ" in note for note in found["notes"])


def test_a_snapshot_is_the_same_on_every_database(store, tmp_path):
    path = write_campaign(tmp_path, pool=40, systems=2, sample={"n": 12, "seed": 1})
    campaign = begin(path, store)
    now = work(campaign, store, [GOOD, replace(GOOD, leniency=0.3), GOOD], judgments=30)
    found = snapshot(campaign, store, now=now)
    assert found["progress"]["judgments"] == 30
    assert [one["number"] for one in found["raters"]] == [1, 2, 3]
    assert found["raters"][0]["agreement"] > 0


def test_the_goal_needs_every_system(half_done):
    campaign, store, _ = half_done
    rows = store.read(judgment_rows)
    systems = ("baseline", "large", "large-tuned")
    known = partial(
        knowledge,
        campaign,
        read_pool(campaign, systems=systems),
        systems=systems,
        goal=Goal(half_width=9.0),
    )
    assert known(rows).reached
    without = known(rows.filter(pl.col("system") != "large"))
    assert (without.reached, without.waiting, without.more_judgments) == (False, ["large"], None)


def left_to_do(more, **facts):
    """An outlook of which only the judgments that the goal needs matter."""
    known = SimpleNamespace(more_judgments=more, reached=False)
    return Outlook(known, **({"lacking": 10, "planned": 100, "drawn": 50} | facts))


def test_what_is_left_costs_its_price_and_a_draw_that_is_too_small_says_what_is_needed():
    pay = SimpleNamespace(currency="EUR", per_judgment=0.3, tutorial_bonus=0)
    settings = SimpleNamespace(budget=None)
    found = money(SimpleNamespace(pay=pay), settings, spent=4_000_000, left=20)
    assert (found["spent"], found["left"]) == ("4.00", "6.00")
    # 20 judgments beyond the 100 of the draw are a fifth more outputs
    assert left_to_do(30).needed == 60
    assert left_to_do(10).needed == left_to_do(None).needed == 50
    # a text that two systems gave is judged once
    assert left_to_do(30, sharing=0.5).to_goal == 15


def test_a_draw_or_a_budget_that_cannot_reach_the_goal_is_told_early(small):
    campaign, _ = small
    known = SimpleNamespace(
        goal=Goal(half_width=0.3),
        widest="±0.4 (a, b)",
        sentence="",
        waiting=[],
        more_judgments=40,
        reached=False,
    )
    settings = SimpleNamespace(budget=6_000_000, state="running")
    outlook = Outlook(known, lacking=4, planned=12, drawn=12)
    assert signal(campaign, settings, outlook, spent=3_200_000, judgments=8) == {
        "kind": "go",
        "title": "Go on, and add outputs",
        "reason": "The widest interval is ±0.4 (a, b). The goal is ±0.3. About 40 more judgments are expected. "
        "The draw ends before: about 48 outputs of each system are needed, and 12 are drawn. "
        "The budget ends before: about 19.20 USD are needed in all, of 6.00.",
    }
    outlook = Outlook(known, lacking=90, planned=98, drawn=98)
    said = signal(campaign, settings, outlook, spent=3_200_000, judgments=8)
    assert said["title"] == "Go on, but the budget is too small"
    settings.budget = None
    assert signal(campaign, settings, outlook, spent=0, judgments=8)["title"] == "Go on"


def test_the_pace_is_that_of_the_last_hour():
    outlook = left_to_do(None, lacking=60)
    hour = 60 * MINUTE
    times = [START, *(START + 3 * hour - number * MINUTE for number in range(30))]
    found = pace(times, outlook, now=START + 3 * hour)
    assert found["per_hour"] == pytest.approx(30)
    assert found["end"] == START + 5 * hour
    # the first minutes do not make a rate of thousands
    assert pace([START], outlook, now=START + 1)["per_hour"] == pytest.approx(6)
    assert pace([START], outlook, now=START + 9 * hour)["end"] is None


def test_amounts_are_written_with_all_their_digits_and_at_least_two():
    assert [money_text(one) for one in (0, 250_000, 1_005_500, 1_234_000_000)] == [
        "0.00",
        "0.25",
        "1.0055",
        "1,234.00",
    ]


class Counting:
    """Stands for `snapshot` and counts how often it is asked for."""

    def __init__(self):
        self.calls = 0
        self.threads = set()
        self.errors = []

    def __call__(self, *_campaign_and_store, now, **_pool):
        self.calls += 1
        self.threads.add(threading.get_ident())
        if self.errors:
            raise self.errors.pop()
        goal = {"goal": {"half_width": None, "decide": None}, "pace": {"reached": False}}
        return {"number": self.calls, "time": now, **goal}


@pytest.fixture
def counting(monkeypatch, observer_here):  # noqa: ARG001 - counts in this process
    found = Counting()
    monkeypatch.setattr(following, "snapshot", found)
    return found


async def shown(events):
    """Return the next snapshot of a stream of events; None when it has ended."""
    async for event in events:
        kind, _, data = event.decode().partition("\ndata: ")
        if kind == "event: snapshot":
            return json.loads(data)
    return None


def test_all_who_look_share_one_snapshot_made_in_another_thread(small, counting):
    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        first = await asyncio.gather(*(shown(live.events()) for _ in range(5)))
        await live.close()
        return first

    found = asyncio.run(look())
    assert [one["number"] for one in found] == [1] * 5
    assert counting.calls == 1
    assert threading.get_ident() not in counting.threads


def test_nothing_is_computed_while_nobody_looks(small, counting):
    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        events = live.events()
        await shown(events)
        await events.aclose()
        live.refresh()
        await asyncio.sleep(0)
        worker = live._worker
        if worker is not None:
            await worker
        return live

    live = asyncio.run(look())
    assert counting.calls == 1
    assert live._worker is None


@pytest.mark.usefixtures("counting")
def test_a_change_by_hand_is_shown_at_once(small):
    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        events = live.events()
        assert (await shown(events))["number"] == 1
        live.refresh()
        assert (await shown(events))["number"] == 2
        await events.aclose()
        await live.close()

    asyncio.run(asyncio.wait_for(look(), PATIENCE))


def test_a_change_while_a_snapshot_is_made_brings_another(small, counting):
    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        ask = live.observer.ask

        async def ask_while_it_changes(question):
            answer = await ask(question)
            if counting.calls == 1:
                live.refresh()
            return answer

        live.observer.ask = ask_while_it_changes
        return [(await live.latest())["number"] for _ in range(3)]

    assert asyncio.run(look()) == [1, 2, 2]


@pytest.mark.usefixtures("counting")
def test_a_fresh_snapshot_is_not_computed_again(small):
    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        return [await live.latest() for _ in range(3)]

    assert [one["number"] for one in asyncio.run(look())] == [1, 1, 1]


def test_an_old_snapshot_is_computed_again_only_if_something_is_new(small, counting, monkeypatch):
    campaign, store = small
    clock = iter([0.0, 0.0, 3.0, 6.0, 6.0, 9.0, 37.0, 37.0])
    monkeypatch.setattr(following, "monotonic", lambda: next(clock))

    async def look():
        live = LiveSnapshots(campaign, store, now=lambda: START)
        found = [await live.latest(), await live.latest()]
        work(campaign, store, [GOOD], judgments=1)
        # rates age, so after half a minute it is made anew in any case
        return [one["number"] for one in (*found, *[await live.latest() for _ in range(3)])]

    assert asyncio.run(look()) == [1, 1, 2, 2, 3]
    assert counting.calls == 3


@pytest.mark.usefixtures("counting")
def test_computing_takes_at_most_a_fifth_of_a_core(small, monkeypatch):
    clock = iter([0.0, 3.0])
    monkeypatch.setattr(following, "process_time", lambda: next(clock))

    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        await live.latest()
        return live._pause

    assert asyncio.run(look()) == pytest.approx(12.0)


@pytest.mark.usefixtures("counting")
def test_events_are_in_the_form_that_browsers_read(small):
    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        events = live.events()
        found = [await anext(events), await anext(events)]
        await events.aclose()
        await live.close()
        return found

    retry, event = asyncio.run(look())
    assert retry == b"retry: 2000\n\n"
    assert event.startswith(f'event: snapshot\ndata: {{"number":1,"time":{START},'.encode())
    assert event.endswith(b"}\n\n")


@pytest.mark.usefixtures("counting")
def test_a_stream_without_news_says_that_it_is_alive(small, monkeypatch):
    monkeypatch.setattr(following, "_HEARTBEAT_SECONDS", 0.01)

    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        events = live.events()
        await shown(events)
        alive = await anext(events)
        await events.aclose()
        await live.close()
        return alive

    assert asyncio.run(look()) == b": alive\n\n"


@pytest.mark.usefixtures("counting")
def test_closing_ends_all_that_follow(small):
    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        events = live.events()
        await shown(events)
        rest = asyncio.create_task(shown(events))
        await asyncio.sleep(0)
        await live.close()
        return await rest

    assert asyncio.run(look()) is None


def test_an_error_is_told_to_who_asks_and_passes_for_who_follows(small, counting, monkeypatch):
    monkeypatch.setattr(following, "_LEAST_SECONDS", 0.01)

    async def look():
        live = LiveSnapshots(*small, now=lambda: START)
        counting.errors = [StoreError("away")] * 3
        with pytest.raises(StoreError, match="away"):
            await live.latest()
        events = live.events()
        found = await shown(events)
        await events.aclose()
        await live.close()
        return found

    assert asyncio.run(asyncio.wait_for(look(), PATIENCE))["number"] == 4


@pytest.mark.usefixtures("observer_here")
def test_whom_a_rule_excludes_is_excluded_before_the_snapshot_is_made(tmp_path):
    path = write_campaign(tmp_path, pool=60, systems=1, sample={"n": 30, "seed": 1})
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)
        now = work(campaign, store, [GOOD] * 4 + [HASTY], judgments=50)

        async def look():
            return await LiveSnapshots(campaign, store, now=lambda: now).latest()

        found = asyncio.run(look())
    hasty = found["raters"][4]["estimate"]
    assert (hasty["verdict"], hasty["by"]) == ("exclude", "rule")
    assert found["exclusions"]["raters"] == 1


@pytest.mark.usefixtures("observer_here")
def test_rules_are_applied_again_only_when_something_is_new(tmp_path, monkeypatch):
    path = write_campaign(tmp_path, pool=60, systems=1, sample={"n": 30, "seed": 1})
    asked = []
    monkeypatch.setattr(following, "due", lambda *_: asked.append(1) or {})
    with Store.open(tmp_path / "campaign.sqlite") as store:
        campaign = begin(path, store)

        async def keep():
            live = LiveSnapshots(campaign, store, now=lambda: START)
            await live.apply_rules()
            await live.apply_rules()
            assert len(asked) == 1
            work(campaign, store, [GOOD], judgments=1)
            await live.apply_rules()

        asyncio.run(keep())
    assert len(asked) == 2


@pytest.mark.usefixtures("observer_here")
def test_following_shows_a_decision_and_its_replacements(small):
    campaign, store = small
    now = work(campaign, store, [GOOD] * 3, judgments=8)
    rater = store.read(rater_rows)[0]

    async def look():
        live = LiveSnapshots(campaign, store, now=lambda: now)
        before = await live.latest()
        store.write(
            partial(
                decide,
                rater=rater.id,
                about="estimate",
                verdict="exclude",
                reason="a test",
                by="admin",
                now=now,
            )
        ).result()
        live.refresh()
        return before, await live.latest()

    before, after = asyncio.run(look())
    assert before["exclusions"]["raters"] == 0
    assert after["exclusions"] == {
        "raters": 1,
        "judgments": rater.judgments,
    }
    assert after["progress"]["planned"] == before["progress"]["planned"] + rater.judgments
