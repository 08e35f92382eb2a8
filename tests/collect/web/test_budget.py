"""What limits a campaign's spending, seen by those who spend it."""

import pytest
from sqlalchemy import select

from steelyard.collect.policy.budget import spent
from steelyard.collect.store.settings import current
from steelyard.collect.store.tables import slots

PAY = 125_000
BUDGET = "goal: {half_width: 0.05, budget: 0.55}\n"
PROLIFIC = "panel: {kind: prolific, complete: DONE, screen_out: OUT}\n"


def owed(server):
    return server.store.read(spent)


def test_no_more_is_given_out_than_the_budget_can_pay(serve):
    server = serve(BUDGET)
    raters = [server.rater(f"r{number}") for number in range(8)]
    given = [rater.next() for rater in raters]
    # four are paid for: whoever comes later waits, because these may yet let go of theirs
    assert [one["status"] for one in given] == ["task"] * 4 + ["wait"] * 4
    for rater in raters[:4]:
        rater.judge()
    assert owed(server) == 4 * PAY
    ends = [rater.next() for rater in raters]
    assert {(one["status"], one["reason"]) for one in ends} == {("done", "enough")}
    assert "Enough judgments are in" in ends[0]["message"]
    assert owed(server) <= 550_000


@pytest.mark.parametrize("raters", [1, 4])
def test_what_a_small_budget_pays_is_the_beginning_of_the_draw(serve, raters):
    """A judgment behind a gap would be paid and enter no estimate."""
    server = serve(BUDGET)
    people = [server.rater(f"r{number}") for number in range(raters)]
    for judged in range(4):
        people[judged % raters].judge()
    done = select(slots.c.position).where(slots.c.done).order_by(slots.c.position)
    places = server.store.read(lambda connection: connection.execute(done).scalars().all())
    every = select(slots.c.position).order_by(slots.c.position).limit(4)
    first = server.store.read(lambda connection: connection.execute(every).scalars().all())
    assert places == first


def test_work_in_hand_is_kept_and_paid_when_the_budget_is_spent(serve):
    server = serve(BUDGET)
    rater = server.rater()
    for _ in range(3):
        rater.judge()
    held = rater.next()["assignment"]["id"]
    assert server.rater("late").next()["status"] == "wait"
    # the same again, and not "wait" because of itself
    assert rater.next()["assignment"]["id"] == held
    rater.judge()
    assert owed(server) == 4 * PAY


def test_a_unit_that_is_let_go_of_is_given_to_whoever_waits(serve):
    server = serve(BUDGET)
    held = [server.rater(f"r{number}").next() for number in range(4)]
    late = server.rater("late")
    assert late.next()["status"] == "wait"
    server.clock.forward(minutes=31)
    assert late.next()["status"] == "task"
    assert len(held) == 4


def test_a_greater_budget_opens_the_work_again(serve):
    server = serve(BUDGET)
    rater = server.rater()
    for _ in range(4):
        rater.judge()
    assert rater.next()["reason"] == "enough"
    assert server.admin().send("/admin/api/goal", {"budget": 1.0}).status_code == 200
    assert rater.next()["status"] == "task"
    assert server.admin().send("/admin/api/goal", {"unlimited": True}).status_code == 200
    assert rater.next()["status"] == "task"


def test_a_tutorial_is_begun_only_if_it_can_be_paid(serve):
    server = serve("goal: {half_width: 0.05, budget: 1.3}\n", tutorial=True)
    one, two, three = (server.rater(name) for name in ("one", "two", "three"))
    for rater in (one, two):
        assert rater.next()["status"] == "tutorial"
        rater.send("/api/tutorial", {"question": "q1", "answer": 2})
    # 2 times 0.50 and a judgment each are promised; 0.05 is left
    assert three.next()["status"] == "wait"
    assert one.next()["status"] == "tutorial"
    for rater in (one, two):
        rater.send("/api/tutorial", {"question": "q2", "answer": 0})
        rater.judge()
    assert owed(server) == 1_250_000
    assert three.next()["reason"] == "enough"


def test_who_worked_until_the_budget_was_spent_leaves_with_the_completion_code(serve):
    server = serve(BUDGET + PROLIFIC)
    link = server.site.rater_link().partition("&")[0]
    visitor = server.visitor()
    visitor.follow(f"{link}&PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1")
    for _ in range(4):
        visitor.judge()
    assert visitor.next()["return"]["url"].endswith("cc=DONE")


@pytest.fixture
def reached(serve):
    """A campaign whose goal is reached with its first judgments."""
    server = serve("goal: {half_width: 9.0, prompts: [fluency]}\n", outputs=24)
    rater = server.rater()
    for _ in range(20):
        server.clock.forward(seconds=1)
        rater.judge()
    return server, rater


def test_the_campaign_pauses_when_its_goal_is_reached(reached):
    server, rater = reached
    assert rater.next()["status"] == "task"
    server.portal.call(server.site.live.look_for_goal)
    assert server.store.read(current).state == "paused"
    assert rater.next()["reason"] == "enough"
    assert server.admin().get("/admin/api/snapshot").json()["state"] == "paused"


def test_who_resumes_a_campaign_at_its_goal_is_not_interrupted_again(reached):
    server, rater = reached
    server.portal.call(server.site.live.look_for_goal)
    admin = server.admin()
    assert admin.send("/admin/api/state", {"state": "running"}).status_code == 200
    server.site.live.refresh()
    server.portal.call(server.site.live.look_for_goal)
    assert server.store.read(current).state == "running"
    assert rater.next()["status"] == "task"
    assert admin.send("/admin/api/goal", {"half_width": 8.0}).status_code == 200
    server.portal.call(server.site.live.look_for_goal)
    assert server.store.read(current).state == "paused"


def test_a_race_takes_no_half_width_but_a_budget(serve):
    server = serve("goal: {decide: best, prompts: [fluency], budget: 5}\n")
    admin = server.admin()
    refused = admin.send("/admin/api/goal", {"half_width": 0.1})
    assert (refused.status_code, "no goal of a race" in refused.text) == (400, True)
    assert server.store.read(current).half_width is None
    assert admin.send("/admin/api/goal", {"budget": 6}).json()["budget"] == 6


def test_a_goal_is_not_looked_for_again_while_nothing_happens(serve, monkeypatch):
    server = serve("goal: {half_width: 0.05}\n")
    server.rater().judge()
    asked = []
    observer = server.site.live.observer
    ask = observer.ask
    monkeypatch.setattr(observer, "ask", lambda question: asked.append(1) or ask(question))
    for _ in range(3):
        server.portal.call(server.site.live.look_for_goal)
    assert len(asked) == 1
    server.site.live._computed = 0.0
    server.rater("bob").judge()
    server.portal.call(server.site.live.look_for_goal)
    assert len(asked) == 2
