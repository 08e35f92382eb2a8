"""What a rater sees when there is nothing to judge: previews, pauses, waits, ends and ways back."""

import re

import pytest
from playwright.sync_api import expect

from steelyard.collect.store import settings

EXTERNAL = {"kind": "external-question", "hosts": ["https://worker.example"]}


def change_state(served, state):
    now = served.app.state.site.clock()
    served.store.write(
        lambda connection: settings.change(connection, state=state, now=now)
    ).result()


def judge(rater):
    rater.at_work()
    for key in ("3", "3", "3", "Enter"):
        rater.page.keyboard.press(key)


class TestPreview:
    @pytest.fixture
    def page(self, serve, write_campaign, open_page):
        served = serve(
            write_campaign(
                "answer-correctness",
                [{"input": "a", "output": "b", "passages": ["c"]}],
                tutorial=True,
                panel=EXTERNAL,
            )
        )
        link = f"{served.rater_link}&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h"
        opened = open_page(link)
        opened.locator("#work:not([hidden])").wait_for()
        return opened

    def test_it_explains_itself_and_shows_an_example(self, page):
        expect(page.get_by_text("This is a preview")).to_be_visible()
        expect(page.locator("#texts")).to_contain_text("how long do swifts stay in the air")

    def test_it_shows_every_question_also_those_behind_a_gate(self, page):
        expect(page.locator("#work .step-body:visible")).to_have_count(3)
        expect(page.locator("#work sy-marker")).to_contain_text("Harrow Fell")

    def test_nothing_in_it_can_be_answered(self, page):
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        controls = page.locator("#questions").locator("input, textarea, select, button")
        for control in controls.all():
            expect(control).to_be_disabled()
        page.keyboard.press("y")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#questions input:checked")).to_have_count(0)
        assert asked == []


class TestEnds:
    def test_when_nothing_is_left_the_rater_is_thanked(self, visit):
        rater = visit(outputs=[{"output": "One."}])
        judge(rater)
        expect(rater.page.get_by_role("heading", name="Nothing is left to judge")).to_be_focused()

    def test_a_visit_ends_after_its_judgments(self, visit):
        rater = visit(outputs=[{"output": "One."}, {"output": "Two."}], session={"judgments": 1})
        rater.at_work()
        expect(rater.page.locator("#progress-text")).to_have_text("0 of 1 done")
        judge(rater)
        expect(rater.page.get_by_role("heading", name="That is all for this visit")).to_be_visible()

    def test_a_campaign_that_was_stopped_says_so(self, visit):
        rater = visit(outputs=[{"output": "One."}, {"output": "Two."}])
        rater.at_work()
        change_state(rater.served, "stopped")
        judge(rater)
        expect(rater.page.get_by_role("heading", name="This campaign has ended")).to_be_visible()

    def test_a_prolific_rater_goes_back_with_the_completion_code(
        self, serve, write_campaign, open_page
    ):
        panel = {"kind": "prolific", "complete": "C0DE", "screen_out": "OUT"}
        served = serve(write_campaign(outputs=[{"output": "One."}], panel=panel))
        link = (
            served.rater_link.replace("{{%PROLIFIC_PID%}}", "p1")
            .replace("{{%STUDY_ID%}}", "s1")
            .replace("{{%SESSION_ID%}}", "v1")
        )
        page = open_page(link)
        page.locator("#work:not([hidden])").wait_for()
        assert "token" not in page.url
        assert "p1" not in page.url
        for key in ("3", "3", "3", "Enter"):
            page.keyboard.press(key)
        back = page.get_by_role("link", name="Back to Prolific")
        expect(back).to_have_attribute(
            "href", "https://app.prolific.com/submissions/complete?cc=C0DE"
        )
        expect(page.get_by_text("Your code: C0DE")).to_be_visible()

    def test_a_worker_submits_a_form_to_the_marketplace(self, serve, write_campaign, open_page):
        served = serve(write_campaign(outputs=[{"output": "One."}], panel=EXTERNAL))
        link = f"{served.rater_link}&assignmentId=A1&hitId=H1&workerId=W1&turkSubmitTo=https%3A%2F%2Fworker.example"
        page = open_page(link)
        page.locator("#work:not([hidden])").wait_for()
        for key in ("3", "3", "3", "Enter"):
            page.keyboard.press(key)
        page.route(
            "https://worker.example/**", lambda route: route.fulfill(status=200, body="thanks")
        )
        with page.expect_request("https://worker.example/mturk/externalSubmit") as sent:
            page.locator("#message").get_by_role("button", name="Submit").click()
        assert sent.value.method == "POST"
        assert "assignmentId=A1" in sent.value.post_data


class TestPauses:
    def test_a_pause_is_told_and_ends_by_itself(self, visit):
        rater = visit(outputs=[{"output": "One."}, {"output": "Two."}])
        page = rater.at_work()
        page.clock.install()
        change_state(rater.served, "paused")
        judge(rater)
        expect(page.get_by_role("heading", name="A short break")).to_be_visible()
        change_state(rater.served, "running")
        page.clock.run_for(20_000)
        rater.at_work()

    def test_a_rater_waits_while_others_hold_what_is_left(self, visit, open_page):
        rater = visit(outputs=[{"output": "One."}])
        rater.at_work()
        second = open_page()
        second.clock.install()
        second.goto(rater.served.invitation("second"))
        expect(second.get_by_role("heading", name="One moment")).to_be_visible()
        judge(rater)
        expect(rater.page.get_by_role("heading", name="Nothing is left to judge")).to_be_visible()
        second.clock.run_for(6_000)
        expect(second.get_by_role("heading", name="Nothing is left to judge")).to_be_visible()


class TestLinks:
    def test_the_front_page_says_how_to_take_part(self, serve, write_campaign, open_page):
        page = open_page(serve(write_campaign()).url)
        expect(page.get_by_text("Test campaign")).to_be_visible()
        expect(page.get_by_text("open the link that you were given")).to_be_visible()

    def test_a_broken_link_is_explained(self, serve, write_campaign, open_page, console):
        console.expect("Failed to load resource")
        page = open_page(f"{serve(write_campaign()).url}/join?token=nonsense")
        expect(page.get_by_role("heading")).to_be_visible()
        expect(page.get_by_text("link")).not_to_have_count(0)


def test_a_text_that_cannot_be_judged_is_handed_back_with_a_reason(visit, accessible):
    rater = visit()
    page = rater.at_work()
    before = page.locator("#texts").inner_text()
    page.get_by_role("button", name="I cannot judge this…").click()
    dialog = page.get_by_role("dialog")
    accessible(page)
    dialog.get_by_role("button", name="Hand back").click()
    expect(dialog.get_by_role("alert")).to_have_text("Say why, in a few words.")
    expect(dialog.get_by_label("Why?")).to_be_focused()
    page.keyboard.type("It is about law.")
    dialog.get_by_role("button", name="Hand back").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#texts")).not_to_have_text(before)
    rater.at_work()
    assert rater.served.submissions() == []


def test_a_missed_check_is_explained_before_the_next_text(write_campaign, serve, open_page):
    path = write_campaign(gold={"file": "gold.jsonl", "every": 2})
    gold = (
        '{"output": "Choose Poor here.", "answer": {"fluency": 1}, "feedback": "It said: Poor."}\n'
    )
    path.with_name("gold.jsonl").write_text(gold, "utf-8")
    served = serve(path)
    page = open_page(served.rater_link)
    for done in range(1, 5):
        page.locator("#work:not([hidden]) #questions:enabled").wait_for()
        is_check = "Choose Poor" in page.locator("#texts").inner_text()
        for key in ("3", "3", "3", "Enter"):
            page.keyboard.press(key)
        if is_check:
            expect(page.locator("#message-body")).to_contain_text("It said: Poor.")
            expect(page.get_by_role("heading", name="That text was a check")).to_be_focused()
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            page.locator("#work:not([hidden]) #questions:enabled").wait_for()
            return
        expect(page.locator("#progress-text")).to_contain_text(
            re.compile(rf"^{done} (of \d+ )?done")
        )
    raise AssertionError("no check was shown")


def test_the_first_page_asks_for_consent_and_leaving_forgets_the_rater(visit, accessible, console):
    console.expect("401|ERR_FAILED")
    rater = visit(
        welcome={"purpose": "We <b>compare</b> summaries.\n\nThank you.", "consent": "I am 18."},
        pay={"currency": "EUR", "per_judgment": 0.4, "expected_seconds": 60},
    )
    page = rater.page
    expect(page.locator("#welcome")).to_contain_text("We <b>compare</b> summaries.")
    expect(page.locator("#welcome")).to_contain_text("Each judgment takes about 60 seconds")
    accessible(page)
    page.get_by_role("button", name="I agree").click()
    rater.at_work()
    page.clock.install()
    change_state(rater.served, "paused")
    judge(rater)
    expect(page.get_by_role("heading", name="A short break")).to_be_visible()
    # without a connection nobody is told that the browser has forgotten them
    page.route("**/api/leave", lambda route: route.abort())
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_role("alert")).to_contain_text("You have not left yet: no connection")
    page.unroute("**/api/leave")
    page.get_by_role("button", name="Leave").click()
    expect(page.locator("#message")).to_contain_text("You have left")
    page.clock.run_for(20_000)  # the page does not look for work any more
    expect(page.locator("#message")).to_contain_text("You have left")
    page.reload()
    expect(page.get_by_role("heading")).to_have_text("Please open your link again")
