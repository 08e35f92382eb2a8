"""Keys: a list of them, a switch, and that they never get in the way of typing."""

from playwright.sync_api import expect


def test_a_question_mark_lists_the_keys_of_the_moment(visit):
    rater = visit()
    page = rater.at_work()
    page.keyboard.press("?")
    listed = page.get_by_role("dialog", name="Keys")
    expect(listed).to_be_visible()
    for text in ("Poor", "Good", "Next question", "Question before", "Submit", "Instructions"):
        expect(listed.get_by_role("definition").filter(has_text=text).first).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()
    expect(rater.question).to_contain_text("fluent")
    page.get_by_role("button", name="Keys").click()
    expect(listed).to_be_visible()


def test_the_instructions_open_with_a_key_and_a_button(visit):
    page = visit().at_work()
    told = page.locator("#instructions .prose")
    page.keyboard.press("i")
    expect(told).to_be_visible()
    expect(told).to_contain_text("Do not add facts")
    page.keyboard.press("i")
    expect(told).to_be_hidden()
    page.get_by_role("button", name="Instructions").click()
    expect(told).to_be_visible()


def test_single_keys_can_be_switched_off_for_good(visit):
    rater = visit()
    page = rater.at_work()
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="Single letters and digits").click()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator("#questions input:checked")).to_have_count(0)
    page.reload()
    rater.at_work()
    page.keyboard.press("1")
    expect(page.locator("#questions input:checked")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(rater.question.locator("[data-problem]")).not_to_be_empty()


def test_in_a_text_field_keys_write_until_escape_leaves_it(visit):
    rater = visit()
    page = rater.at_work()
    for key in "222":
        page.keyboard.press(key)
    area = rater.question.get_by_role("textbox")
    expect(area).to_be_focused()
    area.fill("")
    page.keyboard.type("3 i? ")
    page.keyboard.press("Enter")
    expect(area).to_have_value("3 i? \n")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("3")
    expect(page.locator("[data-step=overall] [data-summary]")).to_have_text("Good")
