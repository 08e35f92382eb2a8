"""Outputs put in order: by keys on a laptop, by touch on a phone, with hostile texts, through to the comparison."""

import json
from pathlib import Path

import polars as pl
import yaml
from playwright.sync_api import expect

import steelyard.collect
from steelyard.collect.dashboard.exports import judgments
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs

HOSTILE = "<img src=x onerror=\"document.body.dataset.ran='yes'\"> <b>bold</b>"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TASK = {
    "name": "orders",
    "title": "Which reply is better?",
    "instructions": "Read all of them.",
    "side_by_side": True,
    "show": [{"field": "input", "label": "Message"}, {"field": "output", "label": "Reply"}],
    "widgets": [
        {"id": "order", "kind": "ranking", "label": "Put the replies in order"},
        {"id": "why", "kind": "comment", "label": "Why?", "once": True},
    ],
    "scores": [{"prompt": "better", "rule": "rank", "from": "order"}],
}
STRICT = TASK | {"widgets": [TASK["widgets"][0] | {"ties": False}]}


def replies(items="abc"):
    return [
        {"item": item, "system": f"secret-{place}", "input": f"Message {item}?", "output": text}
        for item in items
        for place, text in enumerate((f"Yes {item}.", f"No {item}. " * 12, HOSTILE))
    ]


def test_an_order_by_keys_goes_all_the_way_to_the_comparison(visit, accessible, tmp_path):
    rater = visit(TASK, replies())
    page = rater.page
    for number in range(1, 4):
        rater.at_work()
        rows = page.locator(".rank:visible")
        expect(rows).to_have_count(3)
        expect(page.get_by_role("radiogroup", name="Place of Reply A")).to_be_visible()
        if number == 1:
            assert "secret-" not in page.content()
            accessible(page)
            page.keyboard.press("2")
            expect(page.locator("[data-order]")).to_have_text("Order: A")
            page.keyboard.press("Control+Enter")
            expect(page.locator("[data-step=order] [data-problem]")).to_have_text(
                "Give each of them a place."
            )
        else:
            page.keyboard.press("2")
        page.keyboard.press("1")
        page.keyboard.press("2")
        expect(page.locator("[data-order]")).to_have_text("Order: B > A = C")
        page.screenshot(path=tmp_path / f"laptop-{number}.png", full_page=True)
        expect(page.get_by_role("button", name="Submit")).to_be_focused()
        page.keyboard.press("Enter")
        rater.submitted(number)
    assert [one["answer"] for one in rater.served.submissions()] == [
        {"order": {"A": 2, "B": 1, "C": 2}}
    ] * 3
    assert page.evaluate("document.body.dataset.ran") is None
    expect(page.locator(".output b, .output img")).to_have_count(0)
    site = rater.served.app.state.site
    table = judgments(rater.served.store, site.campaign)
    assert table.height == 3 * 6
    assert set(table["score"]) == {0.0, 0.5, 1.0}
    wins = table.filter(pl.col("score") == 1)
    assert wins.height == 3 * 2
    study = Study(read_outputs(site.campaign.outputs), read_judgments(table))
    (found,) = study.compare([])
    assert len(found.pairs) == 3


def test_on_a_phone_places_are_tapped_and_change_hands_without_ties(visit, accessible, tmp_path):
    rater = visit(STRICT, replies("a"), context=PHONE)
    page = rater.at_work()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    def tap(letter, place):
        page.get_by_role("radiogroup", name=f"Place of Reply {letter}").get_by_role(
            "radio", name=str(place)
        ).tap()

    order = page.locator("[data-order]")
    tap("A", 1)
    with page.expect_response("**/api/draft"):
        tap("B", 1)
    expect(order).to_have_text("Order: B")
    page.reload()
    rater.at_work()
    expect(order).to_have_text("Order: B")
    tap("A", 2)
    tap("C", 3)
    tap("C", 1)
    expect(order).to_have_text("Order: C > A > B")
    accessible(page)
    page.screenshot(path=tmp_path / "phone.png", full_page=True)
    size = page.locator(".rank:visible .option label").first.bounding_box()
    assert min(size["width"], size["height"]) >= 24
    page.get_by_role("button", name="Submit").tap()
    (stored,) = rater.submitted(1)
    assert stored["answer"] == {"order": {"A": 2, "B": 3, "C": 1}}


def test_arrows_move_between_the_rows_and_within_one(visit):
    rater = visit(TASK, replies("a"))
    page = rater.at_work()
    page.get_by_role("radiogroup", name="Place of Reply A").get_by_role("radio", name="1").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    row = page.get_by_role("radiogroup", name="Place of Reply B")
    expect(row.get_by_role("radio", checked=True)).to_have_value("2")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("3")
    expect(page.locator("[data-order]")).to_have_text("Order: B > A")
    page.keyboard.press("1")
    expect(page.locator("[data-order]")).to_have_text("Order: C > B > A")


def test_the_tutorial_of_the_example_asks_for_an_order(
    write_campaign, serve, open_page, accessible
):
    examples = Path(steelyard.collect.__file__).parent / "examples"
    text = (examples / "side-by-side" / "ranking-task.yaml").read_text("utf-8")
    path = write_campaign(yaml.safe_load(text), replies("a"), tutorial=True)
    page = open_page(serve(path).rater_link)
    heads = page.locator("#tutorial-texts h2")
    expect(heads).to_have_text(["Message", "Reply A", "Reply B", "Reply C"])
    expect(page.locator("#tutorial .rank:visible")).to_have_count(3)
    accessible(page)
    for key in "123":
        page.keyboard.press(key)
    expect(page.locator("#tutorial [data-order]")).to_have_text("Order: A > B > C")
    page.get_by_role("button", name="Check the answer").click()
    expect(page.locator("#tutorial .feedback")).to_contain_text("Which replies say it?")
    for letter, place in (("A", "3"), ("C", "2")):
        row = page.get_by_role("radiogroup", name=f"Place of Reply {letter}")
        row.get_by_role("radio", name=place).click()
    expect(page.locator("#tutorial [data-order]")).to_have_text("Order: B = C > A")
    page.get_by_role("button", name="Check the answer").click()
    expect(page.locator("#tutorial .feedback")).to_contain_text("Right.")
    page.get_by_role("button", name="Start").click()
    page.locator("#work:not([hidden])").wait_for()


def test_a_check_among_the_screens_is_explained_in_german_too(
    write_campaign, serve, open_page, accessible
):
    path = write_campaign(
        TASK, replies("abcd"), gold={"file": "gold.jsonl", "every": 2}, language="de"
    )
    known = [
        {"output": "Besser.", "answer": {"order": 1}},
        {"output": HOSTILE, "answer": {"order": 2}},
    ]
    row = {"input": "Prüfung?", "outputs": known, "feedback": "Der zweite war keine Antwort."}
    path.with_name("gold.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    page = open_page(serve(path).rater_link)
    for done in range(1, 5):
        page.locator("#work:not([hidden]) #questions:enabled").wait_for()
        expect(page.get_by_role("radiogroup", name="Platz von Reply A")).to_be_visible()
        is_check = "Prüfung?" in page.locator("#texts").inner_text()
        # ties do not meet what is known: one is before the other
        for _ in range(page.locator(".rank:visible").count()):
            page.keyboard.press("1")
        expect(page.locator("[data-order]")).to_contain_text("Reihenfolge: A = B")
        page.keyboard.press("Control+Enter")
        if is_check:
            expect(page.locator("#message-body")).to_contain_text("Der zweite war keine Antwort.")
            accessible(page)
            return
        expect(page.locator("#progress-text")).to_contain_text(str(done))
    raise AssertionError("no check was shown")
