"""Nothing a rater does is lost: drafts, lost replies, second tabs; and time is counted fairly."""

import json

import pytest
from playwright.sync_api import expect

TEXT = "The dog bark at at him."
NO_NETWORK = "Failed to load resource"


@pytest.fixture
def rater(visit):
    started = visit("language-quality", [{"output": TEXT}, {"output": "Another text."}])
    started.at_work()
    return started


def answer_all(page, keys="333"):
    for key in keys:
        page.keyboard.press(key)


def is_saved(page):
    expect(page.locator("#saved")).to_have_text("Draft saved. Submit it when you are done.")


class TestDrafts:
    def test_work_is_saved_by_itself_and_is_back_after_a_reload(self, rater):
        page = rater.page
        shown = page.locator("#texts").inner_text()
        answer_all(page, "23")
        is_saved(page)
        assert rater.served.draft() == {"fluency": 2, "redundancy": 3}
        page.reload()
        rater.at_work()
        assert page.locator("#texts").inner_text() == shown
        expect(page.locator("[data-step=fluency] [data-summary]")).to_have_text("Fair")
        expect(rater.question).to_contain_text("overall")
        expect(page.locator("#saved")).to_have_text("Your draft of this text is back.")

    def test_edits_highlights_and_confirmations_are_restored(self, visit):
        row = {"input": "what", "output": "this", "passages": ["One 🕳 two three.", "Four five."]}
        rater = visit("answer-correctness", [row])
        page = rater.at_work()
        answer_all(page, "yyr")
        rater.drag("two three")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        expect(rater.question).to_contain_text("Passage 2 of 2")
        is_saved(page)
        page.reload()
        rater.at_work()
        expect(rater.question).to_contain_text("Passage 2 of 2")
        page.keyboard.press(",")
        expect(page.locator("mark")).to_have_text(["two three"])
        expect(rater.question.get_by_role("checkbox")).to_be_checked()

    def test_leaving_the_page_saves_what_the_pause_has_not(self, rater):
        page = rater.page
        page.clock.install()
        page.clock.pause_at("2035-01-01")
        answer_all(page, "2")
        with page.expect_request("**/api/draft") as sent:
            page.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide'))")
        assert json.loads(sent.value.post_data)["answer"] == {"fluency": 2}

    def test_without_a_connection_work_is_kept_in_the_browser(self, rater, console):
        console.expect(NO_NETWORK)
        page = rater.page
        page.route("**/api/draft", lambda route: route.abort())
        answer_all(page, "2")
        expect(page.locator("#saved")).to_contain_text("Not saved yet: no connection.")
        assert rater.served.draft() is None
        page.unroute("**/api/draft")
        page.reload()
        rater.at_work()
        expect(page.locator("[data-step=fluency] [data-summary]")).to_have_text("Fair")
        is_saved(page)
        assert rater.served.draft() == {"fluency": 2}


class TestSubmitting:
    def test_a_lost_reply_is_told_in_words_and_the_same_key_counts_once(self, rater, console):
        console.expect(NO_NETWORK)
        page, sent = rater.page, []

        def lose(route):
            sent.append(json.loads(route.request.post_data))
            if len(sent) == 1:
                route.fetch()  # the server has it; the page will not hear
                route.abort()
            else:
                route.continue_()

        page.route("**/api/submit", lose)
        page.clock.install()
        page.clock.pause_at("2035-01-01")
        answer_all(page)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text(
            "Your answer is kept on this page, but could not be sent: no connection. "
            "It is tried again in 1 second."
        )
        expect(page.get_by_role("button", name="Submit")).to_be_disabled()
        page.clock.run_for(1_000)
        rater.submitted(1)
        expect(page.get_by_role("alert")).to_be_hidden()
        assert sent[0] == sent[1]

    def test_a_request_that_never_arrived_is_sent_again_on_demand(self, rater, console):
        console.expect(NO_NETWORK)
        page = rater.page
        page.clock.install()
        page.route("**/api/submit", lambda route: route.abort(), times=1)
        answer_all(page)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Try now").click()
        rater.submitted(1)

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (429, "too many requests at once"),
            (503, "the server is in trouble, not your connection"),
        ],
    )
    def test_a_server_that_is_busy_is_asked_again_and_named(self, rater, console, status, words):
        console.expect(NO_NETWORK)
        page = rater.page
        busy = {"error": {"code": "busy", "message": "not now"}}
        page.route("**/api/submit", lambda route: route.fulfill(status=status, json=busy), times=1)
        answer_all(page)
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"could not be sent: {words}.")).to_be_visible()
        rater.submitted(1)

    def test_an_answer_that_is_too_long_to_send_can_be_shortened(self, rater, console):
        console.expect(NO_NETWORK)
        page = rater.page
        long = {"error": {"code": "too-large", "message": "a request may have 9 bytes at most"}}
        page.route("**/api/submit", lambda route: route.fulfill(status=413, json=long), times=1)
        answer_all(page)
        page.keyboard.press("Enter")
        expect(page.get_by_text("Your answer is too long to be sent.")).to_be_visible()
        page.get_by_role("button", name="Submit").click()
        rater.submitted(1)

    def test_what_the_server_finds_wrong_is_said_at_its_question(self, rater, console):
        console.expect(NO_NETWORK)
        page = rater.page
        problems = [{"widget": "redundancy", "message": "Choose one of the answers."}]
        refusal = {
            "error": {"code": "invalid-answer", "message": "not complete", "problems": problems}
        }
        page.route("**/api/submit", lambda route: route.fulfill(status=422, json=refusal), times=1)
        answer_all(page)
        page.keyboard.press("Enter")
        expect(rater.question).to_contain_text("Choose one of the answers.")
        expect(rater.question).to_contain_text("repetition")
        expect(page.get_by_role("alert")).to_contain_text("Choose one of the answers.")
        answer_all(page, "3")
        page.keyboard.press("Control+Enter")
        rater.submitted(1)

    def test_a_double_click_submits_once(self, rater):
        answer_all(rater.page)
        rater.page.get_by_role("button", name="Submit").dblclick()
        rater.submitted(1)

    def test_a_session_that_is_over_says_how_to_come_back(self, rater, console):
        console.expect(NO_NETWORK)
        answer_all(rater.page)
        rater.page.context.clear_cookies()
        rater.page.keyboard.press("Enter")
        expect(rater.page.get_by_role("heading", name="This page has lost its key")).to_be_visible()
        rater.page.goto(rater.served.invitation())
        rater.at_work()
        expect(rater.page.locator("[data-step=overall] [data-summary]")).to_have_text("Good")


class TestTabs:
    def test_a_second_tab_shows_the_same_text_and_goes_on_when_the_first_submits(self, rater):
        first = rater.page
        second = first.context.new_page()
        second.goto(f"{rater.served.url}/work")
        second.locator("#work:not([hidden])").wait_for()
        text = first.locator("#texts").inner_text()
        assert second.locator("#texts").inner_text() == text
        answer_all(first)
        first.keyboard.press("Enter")
        rater.submitted(1)
        expect(second.locator("#texts")).not_to_have_text(text)
        expect(second.locator("#work")).to_be_visible()

    def test_both_tabs_may_submit_the_same_text_and_it_counts_once(self, rater, console):
        console.expect(NO_NETWORK)
        first = rater.page
        second = first.context.new_page()
        second.add_init_script("delete window.BroadcastChannel")
        second.goto(f"{rater.served.url}/work")
        second.locator("#work:not([hidden])").wait_for()
        answer_all(second)
        answer_all(first)
        first.keyboard.press("Enter")
        rater.submitted(1)
        text = second.locator("#texts").inner_text()
        second.get_by_role("button", name="Submit").click()
        expect(second.locator("#texts")).not_to_have_text(text)
        assert len(rater.served.submissions()) == 1


class TestActiveTime:
    @pytest.fixture
    def clocked(self, visit):
        """A rater whose time passes only when the test says so."""
        started = visit("language-quality", [{"output": TEXT}])
        page = started.at_work()
        page.clock.install()
        page.reload()
        started.at_work()
        page.clock.pause_at("2035-01-01")
        page.mouse.move(50, 50)
        return started

    @staticmethod
    def measured(page):
        with page.expect_request("**/api/draft") as sent:
            page.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide'))")
        return json.loads(sent.value.post_data)["active_ms"]

    @staticmethod
    def hide(page, hidden):
        page.evaluate(
            """(hidden) => {
              Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
              document.dispatchEvent(new Event("visibilitychange"));
            }""",
            hidden,
        )

    def test_it_stops_after_a_minute_without_input(self, clocked):
        page = clocked.page
        answer_all(page, "2")
        before = self.measured(page)
        page.clock.run_for(50_000)
        page.mouse.move(60, 60)
        page.clock.run_for(600_000)
        answer_all(page, "2")
        assert self.measured(page) - before == pytest.approx(110_000, abs=50)

    def test_it_stands_still_while_the_page_is_hidden(self, clocked):
        page = clocked.page
        answer_all(page, "2")
        before = self.measured(page)
        page.clock.run_for(5_000)
        self.hide(page, hidden=True)
        page.clock.run_for(30_000)
        self.hide(page, hidden=False)
        page.clock.run_for(7_000)
        answer_all(page, "2")
        assert self.measured(page) - before == pytest.approx(12_000, abs=50)
