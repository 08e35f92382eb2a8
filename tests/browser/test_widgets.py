"""Sliders, preferences, error spans, read-backs, comments, and the conditions between them."""

import re

import pytest
from playwright.sync_api import expect

TRANSLATION = {"input": "Das ist ein Test.", "output": "Hello 🌍 world, this is an testing."}


def task(*widgets, **keys):
    """Return a small task; the first widget gives the score."""
    rule = {"preference": "preference", "spans": "weights"}.get(widgets[0]["kind"], "value")
    return {
        "name": "small",
        "title": "A small task",
        "show": [{"field": "output", "label": "Text"}],
        "widgets": list(widgets),
        "scores": [{"prompt": "score", "rule": rule, "from": widgets[0]["id"]}],
    } | keys


SLIDER = {
    "id": "quality",
    "kind": "slider",
    "label": "How good is it?",
    "low": "bad",
    "high": "good",
}
COMMENT = {"id": "comment", "kind": "comment", "label": "Anything else?"}
SPANS = {
    "id": "errors",
    "kind": "spans",
    "field": "output",
    "label": "Mark the errors",
    "severities": [
        {"value": "minor", "label": "Minor", "weight": 1, "key": "m"},
        {"value": "major", "label": "Major", "weight": 5, "key": "j"},
    ],
    "categories": ["accuracy", "fluency"],
    "most": 2,
}


class TestSlider:
    def test_it_has_no_value_before_it_is_touched(self, visit):
        rater = visit(task(SLIDER))
        page = rater.at_work()
        slider = rater.question.get_by_role("slider")
        expect(rater.question).to_contain_text("not set yet")
        expect(slider).to_have_attribute("aria-valuetext", "not set yet")
        page.keyboard.press("Control+Enter")
        expect(rater.question.locator("[data-problem]")).to_contain_text("Set the slider")
        expect(slider).to_be_focused()
        assert rater.served.submissions() == []

    def test_a_click_on_the_very_middle_sets_it(self, visit):
        rater = visit(task(SLIDER))
        rater.at_work()
        rater.question.get_by_role("slider").click()
        expect(rater.question.get_by_role("status", name="")).to_have_text("50")
        rater.page.get_by_role("button", name="Submit").click()
        assert rater.submitted(1)[0]["answer"] == {"quality": 50}

    def test_arrow_keys_set_it_and_do_not_leave_the_question(self, visit):
        rater = visit(task(SLIDER, COMMENT))
        page = rater.at_work()
        rater.question.get_by_role("slider").focus()
        for key in ("ArrowUp", "ArrowUp", "ArrowLeft", "Home", "PageUp", "ArrowRight"):
            page.keyboard.press(key)
        expect(rater.question).to_contain_text("How good is it?")
        page.keyboard.press("Enter")
        expect(rater.question).to_contain_text("Anything else?")
        page.keyboard.press("Enter")
        assert rater.submitted(1)[0]["answer"] == {"quality": 11}


PAIR = [
    {"item": "a", "system": "one", "input": "Why?", "output": "Because."},
    {"item": "a", "system": "two", "input": "Why?", "output": "No idea."},
]
PAIR_KEYS = {"sample": {"n": 1, "seed": 1, "systems": ["one", "two"]}}


class TestPreference:
    @pytest.mark.parametrize(("key", "value"), [("1", "first"), ("2", "second"), ("0", "tie")])
    def test_one_of_two_texts_or_neither_is_better(self, visit, key, value):
        better = {"id": "better", "kind": "preference", "label": "Which is better?", "ties": True}
        shown = [{"field": "first", "label": "Reply A"}, {"field": "second", "label": "Reply B"}]
        rater = visit(task(better, pair=True, show=shown), PAIR, **PAIR_KEYS)
        page = rater.at_work()
        assert sorted(page.locator("#texts .text").all_inner_texts()) == ["Because.", "No idea."]
        names = rater.question.get_by_role("radio")
        expect(names).to_have_count(3)
        expect(rater.question.locator(".option-text")).to_have_text(
            ["Reply A", "Both alike", "Reply B"]
        )
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        assert rater.submitted(1)[0]["answer"] == {"better": value}

    def test_without_ties_one_must_be_better(self, visit):
        better = {"id": "better", "kind": "preference", "label": "Which is better?", "ties": False}
        shown = [{"field": "first", "label": "A"}, {"field": "second", "label": "B"}]
        rater = visit(task(better, pair=True, show=shown), PAIR, **PAIR_KEYS)
        rater.at_work()
        expect(rater.question.locator(".option-text")).to_have_text(["A", "B"])

    def test_a_follow_up_is_asked_only_if_its_condition_holds(self, visit):
        rater = visit("pairwise", PAIR, **PAIR_KEYS)
        page = rater.at_work()
        expect(page.locator("[data-step=by-how-much]")).to_be_hidden()
        page.keyboard.press("1")
        expect(rater.question).to_contain_text("By how much?")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("0")
        expect(page.locator("[data-step=by-how-much]")).to_be_hidden()


class TestSpans:
    @pytest.fixture
    def rater(self, visit):
        started = visit(task(SPANS), [TRANSLATION])
        started.at_work()
        return started

    def test_errors_have_a_severity_and_a_category_in_code_points(self, rater):
        page = rater.page
        rater.drag("an testing")
        page.keyboard.press("Control+Enter")
        expect(rater.question.locator("[data-problem]").last).to_have_text(
            "Error 1: choose how bad it is."
        )
        page.keyboard.press("j")
        expect(page.get_by_role("radio", name="Major")).to_be_checked()
        page.get_by_label("Category of “an testing”").select_option("fluency")
        rater.drag("Hello")
        page.get_by_role("radiogroup", name="Severity of “Hello”").get_by_role(
            "radio", name="Minor"
        ).click()
        page.get_by_label("Category of “Hello”").select_option("fluency")
        page.get_by_role("button", name="Submit").click()
        at = TRANSLATION["output"].index("an testing")
        assert rater.submitted(1)[0]["answer"]["errors"] == [
            {"start": 0, "end": 5, "severity": "minor", "category": "fluency"},
            {"start": at, "end": at + 10, "severity": "major", "category": "fluency"},
        ]

    def test_errors_are_marked_rated_and_removed_with_the_keyboard(self, rater):
        page = rater.page
        rater.mark_by_keys(0, 2)
        expect(page.locator("mark")).to_have_text(["Hello 🌍 world"])
        page.keyboard.press("m")
        expect(page.locator("mark")).to_have_attribute("data-kind", "minor")
        page.get_by_role("button", name="Remove the mark on “Hello 🌍 world”").press("Enter")
        expect(page.locator("mark")).to_have_count(0)
        expect(page.locator("sy-marker")).to_be_focused()

    def test_what_a_severity_means_is_told_by_mouse_keys_and_touch(self, visit, accessible):
        tips = {"minor": "Noticed, but does not mislead.", "major": "Changes the meaning."}
        severities = [one | {"tip": tips[one["value"]]} for one in SPANS["severities"]]
        phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
        for context in ({}, phone):
            rater = visit(task(SPANS | {"severities": severities}), [TRANSLATION], context=context)
            page = rater.at_work()
            rater.mark_by_keys(0, 2)
            minor, major = (page.get_by_text(tips[name]) for name in ("minor", "major"))
            # the first one has the focus now
            expect(minor).to_be_visible()
            expect(major).to_be_hidden()
            option = page.get_by_role("radio", name="Major")
            if context:
                option.tap()
                expect(option).to_be_checked()
            else:
                option.hover()
            expect(major).to_be_visible()
            expect(minor).to_be_hidden()
            accessible(page)
            page.mouse.move(0, 0)
            option.press("ArrowLeft")
            expect(page.get_by_role("radio", name="Minor")).to_be_checked()
            expect(minor).to_be_visible()
            expect(major).to_be_hidden()
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= page.viewport_size["width"]

    def test_overlapping_errors_become_one_and_keep_their_severity(self, rater):
        rater.drag("this is")
        rater.page.keyboard.press("j")
        rater.drag("is an")
        expect(rater.page.locator("mark")).to_have_text(["this is an"])
        expect(rater.page.get_by_role("radio", name="Major")).to_be_checked()

    def test_no_more_errors_than_declared_can_be_marked(self, rater):
        for words in ("Hello", "this", "testing"):
            rater.drag(words)
        expect(rater.page.locator("mark")).to_have_count(2)
        expect(rater.question).to_contain_text("At most 2 errors can be marked")

    def test_a_text_without_error_is_said_to_have_none_or_passed_over(self, rater):
        rater.page.keyboard.press("0")
        expect(rater.page.get_by_role("checkbox", name="There is no error")).to_be_checked()
        rater.page.keyboard.press("Control+Enter")
        assert rater.submitted(1)[0]["answer"] == {"errors": []}

    def test_required_errors_must_be_marked(self, visit):
        rater = visit(task(SPANS | {"required": True}), [TRANSLATION])
        page = rater.at_work()
        expect(page.get_by_role("checkbox", name="There is no error")).to_be_hidden()
        page.keyboard.press("Control+Enter")
        expect(rater.question.locator("[data-problem]").last).to_have_text(
            "Mark at least one error."
        )


class TestConfirm:
    def test_answers_are_read_back_and_changing_one_withdraws_the_confirmation(self, visit):
        sure = {
            "id": "sure",
            "kind": "confirm",
            "label": "Is that right?",
            "text": "You gave {quality} to “{output}”.",
        }
        rater = visit(task(SLIDER, sure, COMMENT), [{"output": "A {text}."}])
        page = rater.at_work()
        rater.question.get_by_role("slider").click()
        page.keyboard.press("Enter")
        expect(rater.question.locator("[data-read]")).to_have_text("You gave 50 to “A {text}.”.")
        page.keyboard.press("Space")
        expect(page.locator("[data-step=sure] [data-summary]")).to_have_text("Confirmed")
        page.locator("[data-step=quality] .step-head button").click()
        page.keyboard.press("ArrowRight")
        expect(page.locator("[data-step=sure] [data-summary]")).to_have_text("")
        page.keyboard.press("Control+Enter")
        expect(rater.question.locator("[data-read]")).to_have_text("You gave 51 to “A {text}.”.")
        page.get_by_role("checkbox", name="Yes, this is what I mean").click()
        page.keyboard.press("Control+Enter")
        assert rater.submitted(1)[0]["answer"] == {"quality": 51, "sure": True}


class TestComment:
    def test_it_is_optional_counted_and_cut_at_its_limit(self, visit):
        rater = visit(task(SLIDER, COMMENT))
        page = rater.at_work()
        expect(page.locator("[data-step=comment] [data-summary]")).to_have_text("optional")
        rater.question.get_by_role("slider").click()
        page.keyboard.press("Enter")
        area = rater.question.get_by_role("textbox", name="Anything else?")
        area.fill("x" * 1_990)
        area.press("Control+End")
        page.keyboard.type("well 12? yes!")
        expect(area).to_have_value(f"{'x' * 1_990}well 12? y")
        expect(rater.question).to_contain_text(re.compile("2,?000 of 2,?000 characters"))
        page.keyboard.press("Control+Enter")
        comment = f"{'x' * 1_990}well 12? y"
        assert rater.submitted(1)[0]["answer"] == {"quality": 50, "comment": comment}
