"""Questions before and after the work, and changing the last answer, as a rater meets them."""

import pytest
from playwright.sync_api import expect

SCREENING = [
        {
            "ask": {
                "id": "reads",
                "kind": "gate",
                "label": "Do you read English <b>every</b> day?",
                "options": [
                    {"value": "yes", "label": "Yes", "key": "y"},
                    {"value": "no", "label": "No", "key": "n"},
                ],
            },
            "answer": "yes",
        },
        {
            "ask": {"id": "years", "kind": "slider", "label": "For how long?", "max": 60, "when": 'reads = "yes"'}
        },
]  # fmt: skip
EXIT = [
    {"id": "clear", "kind": "likert", "label": "Was it clear?", "levels": [{"value": 1, "label": "No"}, {"value": 2, "label": "Yes"}]},
    {"id": "words", "kind": "comment", "label": "Anything else?"},
]  # fmt: skip
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize("size", [{}, PHONE], ids=["laptop", "phone"])
def test_a_visit_from_the_first_question_to_the_last(visit, accessible, size):
    rater = visit(
        outputs=[{"output": "One."}], screening=SCREENING, exit_questions=EXIT, context=size
    )
    page = rater.page
    page.get_by_role("heading", name="A few questions first").wait_for()
    expect(page.locator("#screening")).to_contain_text("Do you read English <b>every</b> day?")
    accessible(page)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#screening .problem").first).to_have_text("This question needs an answer.")
    expect(page.get_by_text("For how long?")).to_be_hidden()
    # with several questions on a page no key acts, so none is named
    expect(page.locator("#screening kbd:visible")).to_have_count(0)
    page.get_by_role("radio", name="Yes").check(force=True)
    page.get_by_label("For how long?").press("ArrowRight")
    page.get_by_role("button", name="Send").click()
    rater.at_work()
    for key in ("3", "3", "3"):
        page.keyboard.press(key)
    expect(page.locator("#submit")).to_be_focused()
    # what is optional stays folded
    expect(page.locator("#work textarea")).to_be_hidden()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="A few questions at the end").wait_for()
    accessible(page)
    page.locator("#exit").get_by_role("radio", name="Yes").check(force=True)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Nothing is left to judge")).to_be_visible()


def test_who_is_screened_out_is_told_so(visit):
    rater = visit(screening=SCREENING)
    page = rater.page
    page.get_by_role("radio", name="No").check(force=True)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="This study is not for you")).to_be_focused()


def test_the_last_answer_is_changed_and_the_text_in_hand_stays(visit, accessible):
    rater = visit(outputs=[{"output": "First text."}, {"output": "Second text."}])
    page = rater.at_work()
    first = page.locator("#texts").inner_text()
    expect(page.get_by_role("button", name="Change my last answer")).to_be_hidden()
    for key in ("3", "3", "3", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#texts")).not_to_have_text(first)
    second = page.locator("#texts").inner_text()
    page.keyboard.press("2")
    page.get_by_role("button", name="Change my last answer").click()
    expect(page.locator("#changing")).to_be_visible()
    expect(page.locator("#texts")).to_have_text(first)
    accessible(page)
    page.get_by_role("button", name="Leave it as it was").click()
    expect(page.locator("#texts")).to_have_text(second)
    expect(page.locator("#work [data-summary]").first).to_have_text("Fair")
    page.get_by_role("button", name="Change my last answer").click()
    expect(page.locator("#texts")).to_have_text(first)
    page.locator("#work .step-head button").nth(2).click()
    page.keyboard.press("2")
    page.locator("#work textarea").fill("A better first text.")
    page.get_by_role("button", name="Save the change").click()
    expect(page.locator("#saved")).to_have_text("Your last answer was changed.")
    expect(page.locator("#texts")).to_have_text(second)
    (stored,) = rater.served.submissions()
    assert (stored["answer"]["overall"], stored["answer"]["fluency"]) == (2, 3)


def test_instructions_stand_beside_the_text_and_above_it_on_a_phone(visit, open_page, accessible):
    rater = visit(context={"viewport": {"width": 1280, "height": 800}})
    page = rater.at_work()
    panel, texts = page.locator("#instructions"), page.locator("#texts")
    expect(panel.locator(".prose")).to_be_hidden()
    page.keyboard.press("i")
    expect(panel.locator(".prose")).to_be_visible()
    assert panel.bounding_box()["x"] > texts.bounding_box()["x"] + texts.bounding_box()["width"]
    accessible(page)
    page.reload()
    rater.at_work()
    phone = open_page(rater.served.invitation("second"), **PHONE)
    phone.locator("#work:not([hidden])").wait_for()
    expect(phone.locator("#instructions .prose")).to_be_hidden()
    phone.locator("#instructions summary").click()
    folded, below = (
        phone.locator("#instructions").bounding_box(),
        phone.locator("#texts").bounding_box(),
    )
    assert folded["y"] + folded["height"] <= below["y"]


def test_on_a_phone_the_text_stays_in_sight(visit):
    rater = visit(outputs=[{"output": "A long text. " * 60}], context=PHONE)
    page = rater.at_work()
    page.locator("#submit").scroll_into_view_if_needed()
    page.mouse.wheel(0, 2_000)
    box = page.locator("#texts").bounding_box()
    assert box["y"] >= -1
    assert box["height"] <= 0.37 * 844 + 20
    assert page.locator("#texts").is_visible()


def test_a_text_is_skipped_without_a_reason(visit):
    rater = visit()
    page = rater.at_work()
    before = page.locator("#texts").inner_text()
    page.get_by_role("button", name="I cannot judge this…").click()
    page.get_by_label("I would rather skip it").check()
    expect(page.get_by_label("Why?")).to_be_hidden()
    page.get_by_role("button", name="Hand back").click()
    expect(page.locator("#texts")).not_to_have_text(before)
