"""The answer-correctness task of the paper, in a browser."""

import pytest
from playwright.sync_api import expect

PASSAGES = [
    "A pothole 🕳 is a depression in a road surface.",
    "In geology, a pothole is a hollow carved into the bed of a river.",
    "The council met on Monday.",
]
ROW = {"input": "what is a pothole", "output": "a hole in a road", "passages": PASSAGES}


@pytest.fixture
def rater(visit):
    started = visit("answer-correctness", [ROW])
    started.at_work()
    return started


@pytest.fixture
def reading(rater):
    """Before the first passage."""
    rater.page.keyboard.press("y")
    rater.page.keyboard.press("y")
    expect(rater.question).to_contain_text("Passage 1 of 3")
    return rater


def test_an_implausible_answer_goes_straight_to_submit(rater):
    rater.page.keyboard.press("y")
    rater.page.keyboard.press("n")
    expect(rater.page.locator("[data-step=verdicts]")).to_be_hidden()
    expect(rater.page.get_by_role("button", name="Submit")).to_be_focused()
    rater.page.keyboard.press("Enter")
    assert rater.submitted(1)[0]["answer"] == {"sense": "yes", "plausible": "no"}


def test_a_question_without_sense_ends_it_too(rater):
    rater.question.get_by_role("radio", name="No").click()
    rater.page.get_by_role("button", name="Submit").click()
    assert rater.submitted(1)[0]["answer"] == {"sense": "no"}


def test_answers_behind_a_gate_that_closes_again_are_not_sent(reading):
    page = reading.page
    page.keyboard.press("e")
    page.locator("[data-step=sense] .step-head button").click()
    page.keyboard.press("n")
    page.keyboard.press("Control+Enter")
    assert reading.submitted(1)[0]["answer"] == {"sense": "no"}


def test_right_and_wrong_need_highlights_and_a_confirmation_neither_needs_nothing(reading):
    page, question = reading.page, reading.question
    page.keyboard.press("r")
    page.keyboard.press("Control+Enter")
    expect(question.locator("[data-problem]")).to_have_text(
        "Passage 1: highlight the words that show it."
    )
    reading.drag("depression in a road")
    expect(question.locator("[data-read]")).to_contain_text(
        "is an answer to “what is a pothole” because: “depression in a road”"
    )
    page.keyboard.press("Control+Enter")
    expect(question.locator("[data-problem]")).to_have_text("Passage 1: read it back and confirm.")
    question.get_by_role("checkbox", name="Yes, this is what I mean").click()
    expect(question).to_contain_text("Passage 2 of 3")
    page.keyboard.press("e")
    expect(question).to_contain_text("Passage 3 of 3")
    question.get_by_role("radio", name="Neither").click()
    expect(page.get_by_role("button", name="Submit")).to_be_focused()
    page.keyboard.press("Enter")
    # the hole is one code point, and two units of the browser
    start = PASSAGES[0].index("depression")
    assert reading.submitted(1)[0]["answer"]["verdicts"] == [
        {"verdict": "right", "highlights": [[start, start + 20]], "confirmed": True},
        {"verdict": "neither", "highlights": [], "confirmed": True},
        {"verdict": "neither", "highlights": [], "confirmed": True},
    ]


def test_what_is_read_back_follows_the_verdict(reading):
    reading.page.keyboard.press("w")
    reading.drag("depression")
    expect(reading.question.locator("[data-read]")).to_contain_text(
        "“a hole in a road” is not an answer to"
    )


def test_highlights_take_whole_words_merge_when_they_overlap_and_go_by_a_click(reading):
    marks = reading.question.locator("mark")
    reading.page.keyboard.press("r")
    reading.drag("pressio")
    expect(marks).to_have_text(["depression"])
    reading.drag("road")
    expect(marks).to_have_text(["depression", "road"])
    reading.drag("sion in a ro")
    expect(marks).to_have_text(["depression in a road"])
    reading.drag("pothole")
    expect(marks).to_have_text(["pothole", "depression in a road"])
    marks.first.click()
    expect(marks).to_have_text(["depression in a road"])


def test_a_drag_backwards_and_beyond_the_text_marks_too(reading):
    page = reading.page
    page.keyboard.press("r")
    box = reading.question.locator("sy-marker").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    word = page.locator("[data-word]", has_text="surface").bounding_box()
    page.mouse.move(word["x"] + word["width"] - 2, word["y"] + word["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 30, box["y"] - 40, steps=4)
    page.mouse.up()
    expect(reading.question.locator("mark")).to_have_text([PASSAGES[0].rstrip(".")])


def test_changing_a_highlight_or_the_verdict_withdraws_the_confirmation(reading):
    page, box = reading.page, reading.question.get_by_role("checkbox")
    page.keyboard.press("r")
    reading.drag("depression")
    box.click()
    page.keyboard.press(",")
    expect(box).to_be_checked()
    reading.drag("road surface")
    expect(box).not_to_be_checked()
    expect(
        page.get_by_role("button", name="Passage 1: Right, read it back and confirm")
    ).to_be_visible()
    box.click()
    page.keyboard.press(",")
    page.locator("mark").first.click()
    expect(box).not_to_be_checked()
    box.click()
    page.keyboard.press(",")
    page.keyboard.press("w")
    expect(box).not_to_be_checked()


def test_the_strip_jumps_between_passages_and_shows_how_far_each_is(reading):
    page = reading.page
    page.keyboard.press("e")
    expect(page.get_by_role("button", name="Passage 1: Neither, done")).to_be_visible()
    page.get_by_role("button", name="Passage 3: choose a verdict").click()
    expect(reading.question).to_contain_text("Passage 3 of 3")
    expect(reading.question.locator("sy-marker")).to_have_text(PASSAGES[2])
    page.get_by_role("button", name="Passage 1: Neither, done").click()
    expect(reading.question.get_by_role("radio", name="Neither")).to_be_checked()
    page.keyboard.press(".")
    expect(reading.question).to_contain_text("Passage 2 of 3")


def test_words_are_highlighted_and_removed_with_the_keyboard(reading):
    page, marks = reading.page, reading.question.locator("mark")
    page.keyboard.press("r")
    expect(reading.question.locator("sy-marker")).to_be_focused()
    reading.mark_by_keys(4, 7)
    expect(marks).to_have_text(["depression in a road"])
    page.keyboard.press("Space")
    expect(marks).to_have_count(0)
    page.keyboard.press("Space")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(marks).to_have_text(["surface"])
    page.keyboard.press("Delete")
    expect(marks).to_have_count(0)


def test_words_are_highlighted_by_taps(visit):
    rater = visit("answer-correctness", [ROW], context={"has_touch": True, "is_mobile": True})
    page = rater.at_work()
    for _ in range(2):
        rater.question.get_by_role("radio", name="Yes").tap()
    rater.question.get_by_role("radio", name="Right").tap()
    expect(rater.question).to_contain_text("Tap the first and the last word")
    page.locator("[data-word]", has_text="depression").tap()
    expect(page.locator(".pending")).to_have_text("depression")
    page.locator("[data-word]", has_text="surface").tap()
    expect(page.locator("mark")).to_have_text(["depression in a road surface"])
    page.locator("mark").tap()
    expect(page.locator("mark")).to_have_count(0)
    # a finger that meets the space beside a word means the word
    word = page.locator("[data-word]", has_text="depression")
    word.locator("xpath=following-sibling::span[1]").tap(position={"x": 0.5, "y": 5})
    expect(page.locator(".pending")).to_have_text("depression")


def test_a_passage_from_right_to_left_is_read_and_marked_that_way(visit):
    hebrew = "בור הוא שקע בכביש"
    row = {"input": "מה זה בור", "output": "שקע", "passages": [hebrew]}
    rater = visit("answer-correctness", [row])
    page = rater.at_work()
    assert (
        page.locator("#texts [data-field=input] p").evaluate("(p) => getComputedStyle(p).direction")
        == "rtl"
    )
    for key in "yyr":
        page.keyboard.press(key)
    for key in ("Home", "ArrowLeft", "Space", "ArrowLeft", "Space"):
        page.keyboard.press(key)
    expect(page.locator("mark")).to_have_text(["הוא שקע"])
    page.locator("mark").click()
    rater.drag("שקע בכביש")
    expect(page.locator("mark")).to_have_text(["שקע בכביש"])
