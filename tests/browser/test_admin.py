"""The dashboard in a real browser: what it shows, what it does, with mouse and keys."""

import json
import re
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import expect
from simulated_campaign import GOOD, HASTY, begin, work, write_campaign

from steelyard.collect.policy.exclusion import due, exclude
from steelyard.collect.store import Store
from steelyard.collect.store.decisions import history
from steelyard.collect.store.progress import rater_rows
from steelyard.collect.store.raters import join
from steelyard.collect.store.settings import current

HALF_AN_HOUR = 1_800_000


def prepare(
    folder: Path,
    *,
    judgments: int = 80,
    rename=("", ""),
    race: bool = False,
    ago: int = HALF_AN_HOUR,
) -> None:
    """A campaign that began half an hour ago, or so long, and is half done."""
    keys = {"sample": {"n": 30, "seed": 1}}
    if race:
        goal = {"decide": "best", "prompts": ["overall"], "budget": 150.0}
        keys |= {"goal": goal, "judgments_per_output": 1, "sample": {"n": 150, "seed": 1}}
    path = write_campaign(folder, pool=300 if race else 60, systems=3 if race else 2, **keys)
    outputs = path.with_name("outputs.jsonl")
    old, new = (json.dumps(name) for name in rename)
    text = outputs.read_text("utf-8").replace(f'"system": {old}', f'"system": {new}')
    outputs.write_text(text, "utf-8")
    with Store.open(folder / "campaign.sqlite") as store:
        start = time.time_ns() // 1_000_000 - ago
        campaign = begin(path, store, now=start)
        if judgments:
            people = [GOOD] * 9 + [replace(HASTY, most=12)]
            now = work(campaign, store, people, judgments=judgments, start=start)
            exclude(store, due(campaign, store), now=now)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Campaigns by what was asked for, each made once."""
    made = {}

    def folder(**asked):
        key = tuple(asked.items())
        if key not in made:
            made[key] = tmp_path_factory.mktemp("prepared") / "campaign"
            prepare(made[key], **asked)
        return made[key]

    return folder


@pytest.fixture
def dashboard_observed(tmp_path, prepared, serve, open_page, monkeypatch):
    """Open the dashboard of a half-done campaign, computed by the observer as it is for users.

    But not at its low priority, at which it hardly gets a turn on a busy machine.
    """
    monkeypatch.setattr("steelyard.collect.dashboard.observer._NICENESS", 0)

    def start(*, context=None, **asked):
        shutil.copytree(prepared(**asked), tmp_path / "campaign")
        served = serve(tmp_path / "campaign" / "campaign.yaml")
        page = open_page(served.admin_link, **(context or {}))
        expect(page.locator("#live")).to_have_text("live")
        # on a busy machine they come after the page
        expect(page.locator("#numbers .tile").first).to_be_visible()
        return page, served

    return start


@pytest.fixture
def dashboard(observer_here, dashboard_observed):  # noqa: ARG001
    """The same without another process, where it does not matter who computes."""
    return dashboard_observed


def test_a_race_shows_who_is_out(dashboard):
    page, _ = dashboard(race=True, judgments=120)
    overall = page.get_by_role("region", name="overall")
    expect(overall.get_by_role("row", name=re.compile("^baseline"))).to_contain_text("out")
    expect(overall.get_by_role("row", name=re.compile("^large-tuned"))).to_contain_text("not yet")
    expect(overall).to_contain_text("however often you look")
    expect(page.locator("#signal")).to_contain_text("more judgments are expected")
    page.get_by_role("button", name="Goal and budget").click()
    expect(page.locator("#ask")).to_contain_text("settled before the start")
    expect(page.get_by_label("Half-width to reach")).to_have_count(0)
    page.keyboard.press("Escape")


def test_what_is_known_and_what_is_left_to_do_stand_on_one_screen(dashboard_observed):
    page, _ = dashboard_observed(context={"viewport": {"width": 1366, "height": 768}})
    assert page.url.endswith("/admin")
    expect(page.locator("#signal")).to_contain_text("The goal is ±0.15")
    numbers = page.locator("#numbers")
    for words in ("80", "32.00 USD", "Rater 10: too quick, left out"):
        expect(numbers).to_contain_text(words)
    expect(numbers).to_contain_text(re.compile(r"Until the goal\d+"))
    overall = page.get_by_role("region", name="overall")
    expect(overall.locator(".answer-sentence")).to_have_text(
        re.compile("cannot be told apart|is better than")
    )
    for name in ("baseline", "large"):
        row = overall.get_by_role("row", name=re.compile(f"^{name} "))
        expect(row.get_by_role("img")).to_have_attribute("aria-label", re.compile(r"\d to \d"))
        expect(row).to_contain_text(re.compile(r"±\d.*\d+ of 60.*not yet"))
    assert page.evaluate("scrollY") == 0
    for one in (page.locator("#signal"), numbers, overall.get_by_role("table")):
        box = one.bounding_box()
        assert box["y"] + box["height"] <= 768
    flagged = page.get_by_role("row", name=re.compile("^Rater 10"))
    expect(flagged).to_contain_text("too quick")
    expect(flagged).to_contain_text("left out")
    expect(page.locator("#raters-count")).to_contain_text("of 1 rater left out")


def test_it_is_live(dashboard_observed):
    page, served = dashboard_observed()
    expect(page.locator("#raters-count")).to_contain_text("10 raters")
    served.store.write(partial(join, panel="invitation", external_id="new", now=0)).result()
    expect(page.locator("#raters-count")).to_contain_text("11 raters")


def test_what_is_unfolded_and_focused_stays_so_when_numbers_change(dashboard):
    page, served = dashboard()
    unfolded = page.locator("#prompts details[open]")
    page.get_by_text("Other prompts: ").click()
    expect(unfolded).to_have_count(1)
    page.get_by_role("button", name="Judgments").focus()
    served.store.write(partial(join, panel="invitation", external_id="new", now=0)).result()
    expect(page.locator("#raters-count")).to_contain_text("11 raters")
    expect(unfolded).to_have_count(1)
    expect(page.get_by_role("button", name="Judgments")).to_be_focused()


def test_pausing_asks_first_and_can_be_taken_back(dashboard):
    page, served = dashboard()
    page.get_by_role("button", name="Pause").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("can submit it, but get nothing new")
    dialog.get_by_role("button", name="Cancel").click()
    assert served.store.read(current).state == "running"
    page.keyboard.press("p")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.locator("#state")).to_have_text("Paused")
    assert served.store.read(current).state == "paused"
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(page.locator("#state")).to_have_text("Running")


def test_stopping_is_a_dangerous_action(dashboard):
    page, served = dashboard()
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("#state")).to_have_text("Stopped")
    assert served.store.read(current).state == "stopped"


def test_a_wider_goal_brings_the_signal_to_stop(dashboard):
    page, served = dashboard()
    page.keyboard.press("g")
    page.get_by_label("Half-width to reach").fill("0.9")
    page.get_by_label("Budget in USD").fill("77")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator("#signal")).to_contain_text("You can stop: the goal is reached")
    found = served.store.read(current)
    assert (found.half_width, found.budget) == (0.9, 77_000_000)


def test_an_empty_field_lifts_the_budget(dashboard):
    page, served = dashboard()
    assert served.store.read(current).budget == 150_000_000
    page.keyboard.press("g")
    budget = page.get_by_label("Budget in USD")
    expect(budget).to_have_value("150")
    expect(budget).to_have_accessible_description("Empty: no limit.")
    budget.fill("")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator("#numbers")).to_contain_text("no budget set")
    found = served.store.read(current)
    assert (found.half_width, found.budget) == (0.15, None)


def test_a_campaign_without_a_judgment_for_an_hour_is_stalled(dashboard):
    page, _ = dashboard(judgments=8, ago=6 * HALF_AN_HOUR)
    expect(page.locator("#state")).to_have_text("Stalled")
    expect(page.locator("#numbers")).to_contain_text("no judgment in the last hour")


def test_a_spent_budget_is_not_shown_as_running(dashboard):
    page, _ = dashboard()
    expect(page.locator("#state")).to_have_text("Running")
    page.get_by_role("button", name="Goal and budget").click()
    page.get_by_label("Budget in").fill("1")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#state")).to_have_text("Budget spent")
    expect(page.locator("#numbers")).to_contain_text("no work is given out")


def test_a_refused_change_is_explained_in_the_dialog(dashboard, console):
    console.expect("400")
    page, _ = dashboard()
    page.get_by_role("button", name="Add outputs…").click()
    page.get_by_label("Outputs to add").fill("5000")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_contain_text("must not exceed the 30")


def test_outputs_can_be_added(dashboard):
    page, served = dashboard()
    page.get_by_role("button", name="Add outputs…").click()
    page.get_by_label("Outputs to add").fill("10")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert served.store.read(current).sample_size == 40


def test_people_are_invited_by_name_and_invitations_withdrawn(dashboard, accessible):
    page, served = dashboard()
    page.get_by_role("button", name="Invitations…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Make links").click()
    expect(page.get_by_role("alert")).to_contain_text("at least one name")
    dialog.get_by_label("Names").fill("Ann <b>Example</b>\nBob")
    dialog.get_by_label("How many").fill("1")
    dialog.get_by_role("button", name="Make links").click()
    links = dialog.get_by_label("3 links, one per line").input_value().splitlines()
    assert links[0].startswith(f"Ann <b>Example</b>\t{served.url}/join?token=")
    assert len(set(links)) == 3
    # the link that was printed at the start is there too, and the ten raters who came
    expect(dialog.locator(".invited li")).to_have_count(14)
    # nobody is invited twice by mistake
    expect(dialog.get_by_label("Names")).to_have_value("")
    expect(dialog.get_by_label("How many")).to_have_value("0")
    accessible(page)
    dialog.get_by_role("button", name="Show link Bob").click()
    shown = dialog.get_by_label("The link").input_value()
    assert shown.startswith(f"Bob\t{served.url}/join?token=")
    bob = dialog.locator(".invited li", has_text="Bob")
    dialog.get_by_role("button", name="Withdraw Bob").click()
    expect(bob).to_contain_text("withdrawn; not come yet")
    expect(dialog.get_by_role("button", name="Invite again Bob")).to_be_focused()
    page.keyboard.press("Enter")
    expect(bob).not_to_contain_text("withdrawn")
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_excluding_and_refusing_payment_are_two_decisions_with_a_reason(dashboard):
    page, served = dashboard()
    page.get_by_role("button", name="Show all 10").click()
    page.get_by_role("button", name="Decide about rater 2", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("are left out").check()
    dialog.get_by_label("Reason").fill("Judged <b>one</b> text twice")
    dialog.get_by_role("button", name="Record").click()
    row = page.get_by_role("row", name=re.compile("^Rater 2"))
    expect(row).to_contain_text("left out")
    expect(row).to_contain_text("by hand: Judged <b>one</b> text twice")
    expect(row.locator("[data-label=Payment]")).to_have_text("undecided")
    ids = {one.number: one.id for one in served.store.read(rater_rows)}
    [made] = [one for one in served.store.read(history) if one.rater == ids[2]]
    assert (made.about, made.verdict, made.by) == ("estimate", "exclude", "admin")


def test_a_decision_that_changes_nothing_is_not_recorded(dashboard):
    page, served = dashboard()
    before = served.store.read(history)
    page.get_by_role("button", name="Decide about rater 1", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("no reason")
    dialog.get_by_role("button", name="Record").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed")
    assert served.store.read(history) == before


def test_raters_can_be_sorted_by_every_column(dashboard):
    page, _ = dashboard()
    page.get_by_role("button", name="Show all 10").click()
    page.get_by_role("button", name="Judgments").click()
    head = page.get_by_role("columnheader", name="Judgments")
    expect(head).to_have_attribute("aria-sort", "descending")
    counts = [int(cell) for cell in page.locator("td[data-label=Judgments]").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    page.get_by_role("button", name="Judgments").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_role("button", name="Judgments")).to_be_focused()


def test_exports_download(dashboard):
    page, _ = dashboard()
    with page.expect_download() as started:
        page.get_by_role("link", name="JSON Lines", exact=True).click()
    path = started.value.path()
    rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    assert started.value.suggested_filename == "judgments.jsonl"
    assert {row["use"] for row in rows} == {"used"}
    with page.expect_download() as started:
        page.get_by_role("link", name="All judgments as CSV").click()
    assert started.value.suggested_filename == "judgments-all.csv"


def test_keys_are_listed_and_can_be_switched_off(dashboard):
    page, served = dashboard()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("Change goal or budget")
    dialog.get_by_label("Single keys are on").uncheck()
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("p")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert served.store.read(current).state == "running"


def test_everything_can_be_reached_with_the_tab_key(dashboard):
    page, _ = dashboard()
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()"
        )
        reached.add(name[:40])
    for wanted in ("Pause", "Goal and budget…", "Stop…", "ledger.csv"):
        assert wanted in reached


def test_the_name_of_a_system_is_text_whatever_it_says(dashboard):
    hostile = "</script><img src=x onerror=alert(1)>"
    page, _ = dashboard(rename=("large", hostile))
    expect(page.get_by_role("rowheader", name=hostile).first).to_be_visible()
    assert page.locator("main img").count() == 0


@pytest.mark.parametrize("judgments", [0, 80])
def test_axe_finds_nothing(dashboard, accessible, judgments):
    page, _ = dashboard(judgments=judgments)
    for summary in page.locator("summary:visible").all():
        summary.click()
    accessible(page)


def test_axe_finds_nothing_in_a_dialog(dashboard, accessible):
    page, _ = dashboard()
    page.get_by_role("button", name="Decide about rater 10").click()
    accessible(page)


def test_axe_finds_nothing_on_a_phone_and_nothing_overflows(dashboard, accessible):
    page, _ = dashboard(context={"viewport": {"width": 390, "height": 844}, "has_touch": True})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_text("Other prompts: ").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.get_by_text("however often you look").count() == 1, "small print is said once"
    page.get_by_label("Sort by").select_option("Judgments")
    accessible(page)


def test_nobody_without_the_admin_link_sees_anything(dashboard, open_page, console):
    console.expect("401|404")
    _, served = dashboard(judgments=0)
    stranger = open_page(f"{served.url}/admin")
    assert stranger.locator("#signal").count() == 0
    rater = open_page(served.invitation("ann"))
    answer = rater.request.get(f"{served.url}/admin/export/ledger.csv")
    assert answer.status == 401


def test_answers_are_looked_at_and_decided_upon_in_one_place(dashboard, accessible):
    page, served = dashboard()
    page.get_by_role("link", name="Answers", exact=True).click()
    expect(page.locator(".answer-card").first).to_contain_text("The summary of story")
    accessible(page)
    page.get_by_label("Show").select_option("flagged")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#count")).to_have_text("12 answers, the newest first")
    card = page.locator(".answer-card").first
    expect(card).to_contain_text("Is the text fluent English?")
    expect(card).to_contain_text("panel-id-0-9")
    card.get_by_role("link", name="Rater 10").click()
    person = page.get_by_role("region", name="Rater 10")
    expect(person).to_contain_text("Median time")
    expect(person).to_contain_text("not paid until you decide")
    accessible(page)
    person.get_by_role("button", name="Decide about rater 10").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("is made").check()
    dialog.get_by_label("Reason").fill("the time was spent")
    dialog.get_by_role("button", name="Record").click()
    expect(person).to_contain_text("to be paid")
    made = served.store.read(history)[-1]
    assert (made.about, made.verdict, made.by) == ("payment", "pay", "admin")


def test_answers_fit_a_phone(dashboard, accessible):
    page, served = dashboard()
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{served.url}/admin/answers?rater=1")
    expect(page.locator(".answer-card").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    accessible(page)
