"""Both tasks of the paper, from the invitation through the tutorial to the export."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import expect

import steelyard.collect
from steelyard.collect.tasks.task import load_task
from steelyard.tables import read_judgments

EDITS = {
    "edit-grammar": "The bridge has been closed since Monday and engineers are inspecting it for cracks.",
    "edit-repetition": (
        "Police are looking for a man who stole a tractor from a farm in the village on Saturday. "
        "The tractor was found in a ditch on Sunday."
    ),
}


@pytest.fixture
def invited(tmp_path, serve, open_page, request):
    """A rater who has opened an invitation to a campaign that comes with Steelyard."""
    folder = tmp_path / request.param
    shutil.copytree(Path(steelyard.collect.__file__).parent / "examples" / request.param, folder)
    file = folder / "campaign.yaml"
    # a browser is faster than the rules believe of people, and does not know the gold
    chosen = yaml.safe_load(file.read_text("utf-8"))
    file.write_text(
        yaml.safe_dump({k: v for k, v in chosen.items() if k not in {"quality", "gold"}})
    )
    served = serve(file)
    page = open_page(served.invitation("somebody"))
    page.locator("#tutorial:not([hidden])").wait_for()
    return served, page


def words_of(place, quote):
    """Return the numbers of the first and the last word of a quotation."""
    return place.locator("sy-marker").evaluate(
        """(marker, quote) => {
          const at = marker.textContent.indexOf(quote);
          const words = [...marker.querySelectorAll("[data-word]")];
          const within = words.filter((word) => word.dataset.start >= at && word.dataset.end <= at + quote.length);
          return [words.indexOf(within[0]), words.indexOf(within.at(-1))];
        }""",
        quote,
    )


class Hand:
    """Answers with the mouse."""

    def __init__(self, page):
        self.page = page

    def choose(self, place, choice):
        place.get_by_role("radio", name=choice.label, exact=True).click()

    def check(self):
        self.page.get_by_role("button", name="Check the answer").click()

    def onward(self):
        self.page.locator("[data-proceed]").click()

    def highlight(self, place, quote):
        first, last = words_of(place, quote)
        pieces = place.locator("sy-marker [data-word]")
        pieces.nth(first).scroll_into_view_if_needed()
        box, end = pieces.nth(first).bounding_box(), pieces.nth(last).bounding_box()
        self.page.mouse.move(box["x"] + 1, box["y"] + box["height"] / 2)
        self.page.mouse.down()
        self.page.mouse.move(end["x"] + end["width"] - 1, end["y"] + end["height"] / 2, steps=3)
        self.page.mouse.up()

    def confirm(self, place):
        place.get_by_role("checkbox", name="Yes, this is what I mean").click()

    def edit(self, place, text):
        place.get_by_role("textbox").fill(text)

    def submit(self):
        self.page.get_by_role("button", name="Submit").click()


class Keyboard(Hand):
    """Answers without ever touching the mouse."""

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def choose(self, place, choice):
        del place
        self.press(choice.key)

    def check(self):
        self.press("Control+Enter")

    def onward(self):
        expect(self.page.locator("[data-proceed]")).to_be_focused()
        self.press("Enter")

    def highlight(self, place, quote):
        first, last = words_of(place, quote)
        self.press("t", "Home", *["ArrowRight"] * first, "Space")
        self.press(*["ArrowRight"] * (last - first), "Space")

    def confirm(self, place):
        del place
        self.press("Enter", "Enter")

    def edit(self, place, text):
        area = place.get_by_role("textbox")
        for _ in range(20):
            if area.evaluate("(area) => area === document.activeElement"):
                break
            self.press("Tab")
        self.press("Control+a")
        self.page.keyboard.insert_text(text)

    def submit(self):
        self.press("Control+Enter")


def answer(hand, question, place):
    """Give the right answer to a question of the tutorial."""
    widget = question.asked
    if widget.kind == "post-edit":
        hand.edit(place, EDITS[question.id])
    elif widget.kind == "passages":
        for expected in question.answer:
            verdict = next(one for one in widget.verdicts if one.value == expected["verdict"])
            hand.choose(place, verdict)
            if verdict.highlight:
                hand.highlight(place, expected["quotes"][0])
                hand.confirm(place)
    else:
        value = question.answer[0]
        hand.choose(place, next(one for one in widget.choices if one.value == value))


def learn(hand, page, questions):
    place = page.locator("#tutorial-question")
    for number, question in enumerate(questions, start=1):
        expect(page.locator("#tutorial-count")).to_have_text(
            f"Tutorial · question {number} of {len(questions)}"
        )
        answer(hand, question, place)
        hand.check()
        expect(page.locator(".feedback")).to_contain_text("Right.")
        hand.onward()
    page.locator("#work:not([hidden])").wait_for()


def exported(served, open_page, name):
    """Export as the person in charge does; so early, few judgments are in the estimate yet."""
    page = open_page(served.admin_link)
    return page.request.get(f"{served.url}/admin/export/{name}?rows=all").text()


HANDS = pytest.mark.parametrize("hand", [Hand, Keyboard], ids=["mouse", "keyboard"])


@HANDS
@pytest.mark.parametrize("invited", ["language-quality"], indirect=True)
def test_language_quality_from_invitation_to_export(invited, open_page, hand, tmp_path):
    served, page = invited
    task = load_task("language-quality")
    rater = hand(page)
    learn(rater, page, task.tutorial.questions)
    expect(page.locator("#progress-text")).to_contain_text("0.75 USD earned")
    fluency, redundancy, overall, _ = task.widgets
    question = page.locator("#work .step.open")
    for widget, value in ((fluency, 2), (redundancy, 3), (overall, 2)):
        expect(question.locator(".step-label")).to_have_text(widget.label)
        rater.choose(question, widget.levels[value - 1])
    rater.edit(question, "A text that I have written anew.")
    rater.submit()
    expect(page.locator("#progress-text")).to_contain_text("1 of 20 done")
    for widget in (fluency, redundancy, overall):
        expect(question.locator(".step-label")).to_have_text(widget.label)
        rater.choose(question, widget.levels[2])
    rater.submit()
    expect(page.locator("#progress-text")).to_contain_text("2 of 20 done")

    (tmp_path / "judgments.jsonl").write_text(exported(served, open_page, "judgments.jsonl"))
    read_judgments(tmp_path / "judgments.jsonl")  # the file is one that `estimate` takes
    assert {one["prompt"] for one in rows(tmp_path)} == {"fluency", "redundancy", "overall", "Edit"}
    scores = {(one["submission"], one["prompt"]): one["score"] for one in rows(tmp_path)}
    assert sorted(value for (_, prompt), value in scores.items() if prompt == "overall") == [2, 3]
    edits = sorted(value for (_, prompt), value in scores.items() if prompt == "Edit")
    assert edits[0] == 0
    assert 0 < edits[1] <= 1


@HANDS
@pytest.mark.parametrize("invited", ["answer-correctness"], indirect=True)
def test_answer_correctness_from_invitation_to_export(invited, open_page, hand, tmp_path):
    served, page = invited
    task = load_task("answer-correctness")
    rater = hand(page)
    learn(rater, page, task.tutorial.questions)
    sense, plausible, verdicts = task.widgets
    question = page.locator("#work .step.open")
    rater.choose(question, sense.options[0])
    expect(question.locator(".step-label")).to_have_text(plausible.label)
    rater.choose(question, plausible.options[0])
    expect(question.locator(".step-label")).to_have_text(verdicts.label)
    right, _, neither = verdicts.verdicts
    count = question.locator(".jump").count()
    for place in range(1, count + 1):
        expect(question.locator(".passage-title")).to_have_text(f"Passage {place} of {count}")
        if place == 1:
            rater.choose(question, right)
            first = question.locator("sy-marker [data-word]").first.inner_text()
            rater.highlight(question, first)
            rater.confirm(question)
        else:
            rater.choose(question, neither)
    rater.submit()
    expect(page.locator("#progress-text")).to_contain_text("1 of")
    expect(question.locator(".step-label")).to_have_text(sense.label)
    rater.choose(question, sense.options[0])
    expect(question.locator(".step-label")).to_have_text(plausible.label)
    rater.choose(question, plausible.options[1])
    rater.submit()
    expect(page.locator("#progress-text")).to_contain_text("2 of")

    (tmp_path / "judgments.jsonl").write_text(exported(served, open_page, "judgments.jsonl"))
    scores = {(one["submission"], one["prompt"]): one["score"] for one in rows(tmp_path)}
    assert sorted(value for (_, prompt), value in scores.items() if prompt == "AnyCorrect") == [
        0,
        1,
    ]
    assert sorted(value for (_, prompt), value in scores.items() if prompt == "AvgCorrect") == [
        0,
        1,
    ]
    submitted = exported(served, open_page, "submissions.jsonl")
    assert len(submitted.splitlines()) == 2


def rows(folder):
    return [json.loads(line) for line in (folder / "judgments.jsonl").read_text().splitlines()]
