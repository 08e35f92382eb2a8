"""The tutorial: feedback, hints, two tries, kept on the server."""

import re

import pytest
from playwright.sync_api import expect

QUESTIONS = [
    {
        "id": "one",
        "content": {"output": "Birds sings."},
        "ask": "good",
        "answer": ["no"],
        "hint": "Look at the verb.",
        "feedback": "It should be: birds sing.",
    },
    {
        "id": "two",
        "content": {"output": "Fish swims."},
        "ask": {"id": "fix", "kind": "post-edit", "field": "output", "label": "Correct it"},
        "answer": ["Fish swim."],
        "hint": "Look at the verb again.",
        "feedback": "Fish swim.",
    },
]
TASK = {
    "name": "birds",
    "title": "Is this good?",
    "instructions": "Read each text.\n\nThen:\n- say yes\n- or no",
    "show": [{"field": "output", "label": "Text"}],
    "widgets": [
        {
            "id": "good",
            "kind": "gate",
            "label": "Is it good?",
            "options": [
                {"value": "yes", "label": "Yes", "key": "y"},
                {"value": "no", "label": "No", "key": "n"},
            ],
        },
        {"id": "level", "kind": "slider", "label": "How good?"},
    ],
    "scores": [{"prompt": "level", "rule": "value", "from": "level"}],
    "tutorial": {"pass": 1, "tries": 2, "questions": QUESTIONS},
}
ROWS = [{"output": "Dogs bark."}]


@pytest.fixture
def rater(visit):
    started = visit(
        TASK,
        ROWS,
        tutorial=True,
        pay={"currency": "EUR", "tutorial_bonus": 0.75, "per_judgment": 0.1},
    )
    started.page.locator("#tutorial:not([hidden])").wait_for()
    return started


def test_it_comes_first_with_the_instructions_open(rater):
    page = rater.page
    expect(page.locator("#work")).to_be_hidden()
    expect(page.get_by_text("Tutorial · question 1 of 2")).to_be_visible()
    expect(page.locator("#tutorial-instructions li")).to_have_text(["say yes", "or no"])
    expect(page.locator("#tutorial-texts")).to_contain_text("Birds sings.")


def test_a_right_answer_brings_feedback_and_the_next_question(rater):
    page = rater.page
    page.get_by_role("radio", name="No").click()
    page.get_by_role("button", name="Check the answer").click()
    expect(page.locator(".feedback")).to_contain_text("Right.")
    expect(page.locator(".feedback")).to_contain_text("It should be: birds sing.")
    page.get_by_role("button", name="Next question").click()
    expect(page.get_by_text("Tutorial · question 2 of 2")).to_be_visible()


def test_a_wrong_answer_brings_a_hint_and_another_try_then_the_answer(rater):
    page = rater.page
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    expect(page.locator(".feedback")).to_contain_text("Try once more.")
    expect(page.locator(".feedback")).to_contain_text("Look at the verb.")
    expect(page.locator(".feedback")).not_to_contain_text("birds sing")
    page.keyboard.press("Enter")
    expect(page.locator("#tutorial [data-problem]")).to_contain_text("Try another one")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.locator(".feedback")).to_contain_text("Right.")


def test_when_tries_are_used_up_the_answer_is_told(rater):
    page = rater.page
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Next question").click()
    area = page.get_by_role("textbox", name="Correct it")
    for wrong in ("Fish swam.", "Fish swum."):
        area.fill(wrong)
        page.keyboard.press("Control+Enter")
        expect(page.locator(".feedback .verdict")).to_be_visible()
        page.locator("#tutorial-question fieldset:disabled, .feedback:focus").first.wait_for()
    expect(page.locator(".feedback")).to_contain_text("You passed the tutorial.")
    page.get_by_role("button", name="Start").click()
    expect(rater.at_work().locator("#texts")).to_contain_text("Dogs bark.")
    expect(page.locator("#progress-text")).to_contain_text("0.75 EUR")


def test_nothing_can_be_checked_before_it_is_answered(rater):
    page = rater.page
    page.keyboard.press("Enter")
    expect(page.locator("#tutorial [data-problem]")).to_contain_text("needs an answer")


def test_it_goes_on_where_it_was_left_even_in_another_browser(rater, open_page):
    rater.page.keyboard.press("y")
    rater.page.keyboard.press("Enter")
    expect(rater.page.locator(".feedback")).to_contain_text("Try once more.")
    rater.page.keyboard.press("n")
    rater.page.keyboard.press("Enter")
    expect(rater.page.locator(".feedback")).to_contain_text("Right.")
    other = open_page(rater.served.invitation())
    expect(other.get_by_text("Tutorial · question 2 of 2")).to_be_visible()


def test_who_does_not_pass_is_thanked_and_sees_no_text(visit):
    task = TASK | {"tutorial": {"pass": 2, "tries": 1, "questions": QUESTIONS}}
    rater = visit(task, ROWS, tutorial=True)
    page = rater.page
    page.get_by_role("radio", name="Yes").click()
    page.get_by_role("button", name="Check the answer").click()
    page.get_by_role("button", name="Next question").click()
    page.get_by_role("textbox").fill("Fish swam.")
    page.get_by_role("button", name="Check the answer").click()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Thank you for trying")).to_be_visible()
    expect(page.get_by_role("link")).to_have_count(
        1
    )  # to the main part: there is no panel to go back to


def test_a_lost_reply_uses_up_no_second_try(rater, console):
    page = rater.page
    console.expect("Failed to load resource")
    sent = []

    def lose(route):
        sent.append(route.request.post_data)
        route.fetch()
        route.abort()

    page.route("**/api/tutorial", lose, times=1)
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    expect(page.locator(".feedback")).to_contain_text("Try once more.")
    assert len(sent) == 1
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.locator(".feedback")).to_contain_text("Right.")


def test_an_answer_that_never_arrived_is_sent_again(rater, console):
    console.expect("Failed to load resource")
    page = rater.page
    page.route("**/api/tutorial", lambda route: route.abort(), times=1)
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.locator(".feedback")).to_have_text(re.compile("Right"))
