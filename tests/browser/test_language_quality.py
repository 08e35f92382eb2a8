"""The language-quality task of the paper, in a browser."""

import pytest
from playwright.sync_api import expect

TEXT = "The dog bark at at him. He ran."


@pytest.fixture
def rater(visit):
    started = visit("language-quality", [{"output": TEXT}])
    started.at_work()
    return started


def test_one_question_is_open_at_a_time_and_an_answer_opens_the_next(rater):
    expect(rater.question).to_have_count(1)
    expect(rater.question).to_contain_text("fluent")
    rater.question.get_by_role("radio", name="Fair").click()
    expect(rater.question).to_have_count(1)
    expect(rater.question).to_contain_text("repetition")
    expect(rater.page.locator("[data-step=fluency] [data-summary]")).to_have_text("Fair")


def test_a_question_cannot_be_opened_before_those_above_it_are_answered(rater):
    later = rater.page.locator("[data-step=overall] .step-head button")
    expect(later).to_be_disabled()


def test_an_earlier_answer_is_revisited_by_a_click_and_by_a_key(rater):
    page = rater.page
    page.keyboard.press("2")
    page.keyboard.press("3")
    page.locator("[data-step=fluency] .step-head button").click()
    expect(rater.question).to_contain_text("fluent")
    expect(rater.question.get_by_role("radio", name="Fair")).to_be_checked()
    page.keyboard.press("1")
    expect(page.locator("[data-step=fluency] [data-summary]")).to_have_text("Poor")
    expect(rater.question).to_contain_text("overall")
    page.keyboard.press("ArrowUp")
    expect(rater.question).to_contain_text("repetition")
    page.keyboard.press("ArrowDown")
    expect(rater.question).to_contain_text("overall")


def test_the_browsers_own_arrow_keys_choose_a_level_without_going_on(rater):
    page = rater.page
    rater.question.get_by_role("radio", name="Poor").focus()
    page.keyboard.press("ArrowRight")
    expect(rater.question.get_by_role("radio", name="Fair")).to_be_checked()
    expect(rater.question).to_contain_text("fluent")
    page.keyboard.press("Enter")
    expect(rater.question).to_contain_text("repetition")


def test_arrow_keys_that_lead_nowhere_choose_nothing(rater):
    rater.question.get_by_role("radio", name="Poor").focus()
    for key in ("ArrowUp", "ArrowDown"):
        rater.page.keyboard.press(key)
    expect(rater.question).to_contain_text("fluent")
    expect(rater.page.locator("#questions input:checked")).to_have_count(0)


def test_the_next_text_begins_with_empty_questions(visit):
    rater = visit("language-quality", [{"output": TEXT}, {"output": "Another text."}])
    page = rater.at_work()
    text = page.locator("#texts").inner_text()
    for key in ("2", "2", "2"):
        page.keyboard.press(key)
    page.keyboard.type("More. ")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#texts")).not_to_have_text(text)
    expect(rater.question).to_contain_text("fluent")
    expect(page.locator("#questions input:checked")).to_have_count(0)
    expect(page.locator("#w-edit-text")).to_have_value(page.locator("#texts p").inner_text())


def test_cues_are_tooltips_on_the_levels_and_escape_hides_them(rater):
    tip = rater.question.get_by_text("A careful editor would let it pass")
    expect(tip).to_be_hidden()
    level = rater.question.get_by_role("radio", name="Good")
    level.hover()
    expect(tip).to_be_visible()
    expect(level).to_have_accessible_description(
        "Correct and natural throughout. A careful editor would let it pass."
    )
    rater.page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    rater.question.get_by_role("radio", name="Poor").focus()
    rater.page.keyboard.press("ArrowRight")
    rater.page.keyboard.press("ArrowRight")
    expect(tip).to_be_visible()
    rater.page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_a_text_below_the_top_on_any_facet_must_be_edited(rater):
    page = rater.page
    for key in "323":
        page.keyboard.press(key)
    expect(rater.question).to_contain_text("improve its quality as much as possible")
    expect(rater.question.get_by_role("textbox")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(rater.question.locator("[data-problem]")).to_contain_text("improve its quality")
    rater.question.get_by_role("textbox").fill(f"  {TEXT} ")
    page.keyboard.press("Control+Enter")
    expect(rater.question.locator("[data-problem]")).to_contain_text("improve its quality")
    assert rater.served.submissions() == []
    rater.question.get_by_role("textbox").fill("The dog barked at him. He ran.")
    expect(rater.question.locator("[data-problem]")).to_have_text("")
    page.keyboard.press("Control+Enter")
    assert rater.submitted(1)[0]["answer"] == {
        "fluency": 3,
        "redundancy": 2,
        "overall": 3,
        "edit": "The dog barked at him. He ran.",
    }


def test_a_perfect_text_needs_no_edit_and_enter_submits_it(rater):
    for key in "333":
        rater.page.keyboard.press(key)
    expect(rater.page.get_by_role("button", name="Submit")).to_be_focused()
    rater.page.keyboard.press("Enter")
    assert rater.submitted(1)[0]["answer"] == {"fluency": 3, "redundancy": 3, "overall": 3}


def test_edits_are_counted_as_they_are_made_and_can_be_reset_and_restored(rater):
    page = rater.page
    for key in "222":
        page.keyboard.press(key)
    count, area = rater.question.locator("[data-count]"), rater.question.get_by_role("textbox")
    expect(count).to_have_text("No edits yet")
    expect(page.get_by_role("button", name="Reset the text")).to_be_disabled()
    area.fill("The dog barked at at him. He ran.")
    expect(count).to_have_text("1 word changed")
    area.fill("The dog barked at him. He ran.")
    expect(count).to_have_text("2 words changed")
    page.get_by_role("button", name="Reset the text").click()
    expect(area).to_have_value(TEXT)
    expect(count).to_have_text("No edits yet")
    page.get_by_role("button", name="Undo the reset").click()
    expect(area).to_have_value("The dog barked at him. He ran.")


def test_submitting_too_early_says_what_is_missing_and_goes_there(rater):
    rater.page.keyboard.press("3")
    rater.page.get_by_role("button", name="Submit").click()
    expect(rater.question).to_contain_text("repetition")
    expect(rater.question.locator("[data-problem]")).to_have_text("This question needs an answer.")
    assert rater.served.submissions() == []
