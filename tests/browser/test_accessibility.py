"""Every page and state: axe finds nothing, in light and dark; phones; right to left."""

import io

import pytest
from PIL import Image
from playwright.sync_api import expect

PASSAGES = ["A pothole is a depression in a road surface.", "In geology, a pothole is a hollow."]
QUESTION = {"input": "what is a pothole", "output": "a hole in a road", "passages": PASSAGES}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
TRANSLATION = {"input": "Das ist ein Test.", "output": "This is an testing."}
PAIR = [
    {"item": "a", "system": "one", "input": "Why?", "output": "Because."},
    {"item": "a", "system": "two", "input": "Why?", "output": "No idea."},
]
PAIR_KEYS = {"sample": {"n": 1, "seed": 1, "systems": ["one", "two"]}}


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def is_shaded(page, texts):
    """Whether the lower edge of a text looks otherwise than the page: there is more of it."""
    box = texts.bounding_box()
    clip = {"x": box["x"] + 1, "y": box["y"] + box["height"] - 2, "width": 1, "height": 1}
    ground = texts.evaluate("() => getComputedStyle(document.body).backgroundColor")
    with Image.open(io.BytesIO(page.screenshot(clip=clip))) as image:
        colour = image.convert("RGB").getpixel((0, 0))
    return ground != "rgb({}, {}, {})".format(*colour)


def fits(page):
    """Nothing is wider than the screen."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_language_task(visit, accessible):
    rater = visit()
    page = rater.at_work()
    accessible(page)
    rater.question.get_by_role("radio", name="Fair").hover()
    accessible(page)
    press(page, "2", "3", "2", "Control+Enter")
    expect(rater.question.locator("[data-problem]")).not_to_be_empty()
    accessible(page)
    press(page, "Escape", "?")
    accessible(page)
    press(page, "Escape", "i")
    accessible(page)


def test_a_long_text_scrolls_beside_the_questions_and_by_the_keyboard(visit, accessible):
    rater = visit(outputs=[{"output": "A sentence that goes on. " * 200}])
    page = rater.at_work()
    texts = page.get_by_role("region", name="What to judge")
    accessible(page)
    texts.evaluate("(texts) => texts.scrollIntoView({ block: 'end', behavior: 'instant' })")
    assert is_shaded(page, texts)
    texts.focus()
    page.keyboard.press("End")
    texts.evaluate(
        """(texts) => new Promise((moved) => {
          if (texts.scrollTop > 0) moved();
          else texts.addEventListener("scroll", () => moved(), { once: true });
        })"""
    )
    expect(rater.question).to_be_in_viewport()
    texts.evaluate("(texts) => texts.scrollTo({ top: texts.scrollHeight, behavior: 'instant' })")
    assert not is_shaded(page, texts)


def test_the_answer_task(visit, accessible):
    rater = visit("answer-correctness", [QUESTION])
    page = rater.at_work()
    press(page, "y", "y")
    accessible(page)
    press(page, "r")
    accessible(page)
    rater.mark_by_keys(2, 4)
    accessible(page)
    press(page, "Enter", "Enter", "e")
    expect(page.get_by_role("button", name="Submit")).to_be_focused()
    accessible(page)


def test_errors_slider_and_comment(visit, accessible):
    rater = visit("direct-assessment", [TRANSLATION])
    page = rater.at_work()
    accessible(page)
    rater.drag("an testing")
    accessible(page)
    press(page, "j")
    accessible(page)
    page.get_by_label("Category of “an testing”").select_option("fluency")
    rater.question.get_by_role("button", name="Next").click()
    accessible(page)
    press(page, "Home", "Enter")
    expect(rater.question).to_contain_text("Is that what you mean?")
    accessible(page)
    press(page, "Space")
    accessible(page)


def test_two_texts_side_by_side(visit, accessible):
    rater = visit("pairwise", PAIR, **PAIR_KEYS)
    page = rater.at_work()
    accessible(page)
    first, second = page.locator("#texts .shown:not(.wide)").all()
    assert first.bounding_box()["y"] == second.bounding_box()["y"]
    page.set_viewport_size({"width": 360, "height": 740})
    assert first.bounding_box()["y"] < second.bounding_box()["y"]
    accessible(page)


def test_the_tutorial(visit, accessible):
    page = visit(tutorial=True).page
    page.locator("#tutorial:not([hidden])").wait_for()
    accessible(page)
    press(page, "1", "Enter")
    expect(page.locator(".feedback")).to_contain_text("Try once more")
    accessible(page)
    press(page, "3", "Enter")
    expect(page.locator(".feedback")).to_contain_text("Right.")
    accessible(page)


def test_messages_and_troubles(visit, accessible, console):
    console.expect("Failed to load resource")
    rater = visit(outputs=[{"output": "One."}])
    page = rater.at_work()
    page.route("**/api/submit", lambda route: route.abort())
    press(page, "3", "3", "3", "Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    accessible(page)
    page.unroute("**/api/submit")
    expect(page.locator("#message")).to_be_visible()
    accessible(page)
    page.goto(rater.served.url)
    accessible(page)


def test_the_preview(serve, write_campaign, open_page, accessible):
    panel = {"kind": "external-question", "hosts": ["https://worker.example"]}
    served = serve(write_campaign("direct-assessment", [TRANSLATION], panel=panel))
    page = open_page(f"{served.rater_link}&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h")
    page.locator("#work:not([hidden])").wait_for()
    accessible(page)


@pytest.mark.parametrize(
    "task",
    ["language-quality", "answer-correctness", "direct-assessment", "esa", "mqm", "pairwise"],
)
def test_a_phone_has_room_for_every_question(visit, accessible, task):
    row = QUESTION | {
        "found": [{"start": 0, "end": 5}],
        "output": "averyveryverylongwordwithoutanyspacethatmustbebrokensomewhere and more",
    }
    rows = PAIR if task == "pairwise" else [row]
    rater = visit(task, rows, context=PHONE, **(PAIR_KEYS if task == "pairwise" else {}))
    page = rater.at_work()
    assert fits(page)
    accessible(page)
    for target in page.locator("#work :is(button, .option):visible").all():
        assert target.bounding_box()["height"] >= 44
    if task == "answer-correctness":
        for name in ("Yes", "Yes", "Right"):
            rater.question.get_by_role("radio", name=name).tap()
        page.locator("[data-word]", has_text="depression").tap()
        page.locator("[data-word]", has_text="depression").tap()
        expect(page.locator("mark")).to_have_text(["depression"])
    assert fits(page)
    expect(page.locator("#work kbd:visible")).to_have_count(0)


def test_the_tutorial_fits_a_phone(visit):
    page = visit(tutorial=True, context=PHONE).page
    page.locator("#tutorial:not([hidden])").wait_for()
    assert fits(page)
    # cues cannot be hovered over here, so they stand below their levels
    tip = page.locator("#tutorial").get_by_text("A careful editor would let it pass")
    expect(tip).to_be_visible()


def test_texts_from_right_to_left_stand_on_their_side(visit):
    rater = visit(outputs=[{"output": "הכלב נבח עליו"}])
    page = rater.at_work()
    text = page.locator("#texts [data-field=output] p")
    assert text.evaluate("(p) => getComputedStyle(p).direction") == "rtl"
    bar = page.locator("#texts [data-field=output]")
    assert bar.evaluate("(all) => getComputedStyle(all).borderRightWidth") == "3px"
    press(page, "2", "2", "2")
    assert (
        rater.question.get_by_role("textbox").evaluate("(area) => getComputedStyle(area).direction")
        == "rtl"
    )


def test_dark_is_dark_and_light_is_light(visit):
    page = visit(context={"color_scheme": "dark"}).at_work()
    ground = "() => getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(20, 24, 29)"
    page.emulate_media(color_scheme="light")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_saves_and_errors_are_read_out(visit):
    rater = visit()
    page = rater.at_work()
    expect(page.get_by_role("heading", name="How well is this text written?")).to_be_focused()
    press(page, "2")
    expect(
        page.get_by_role("status").filter(has_text="Draft saved. Submit it when you are done.")
    ).to_have_count(1)
    press(page, "Control+Enter")
    expect(page.locator("#announce")).to_have_text("This question needs an answer.")
    group = rater.question.get_by_role("radiogroup")
    expect(group).to_have_accessible_name("Is the text free of repetition?")
    expect(group).to_have_accessible_description("This question needs an answer.")
