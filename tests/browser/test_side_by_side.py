"""Outputs of several systems on one screen: laptop and phone, keyboard, hostile texts."""

from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=\"document.body.dataset.ran='yes'\"> <b>bold</b>"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def replies():
    texts = {
        "a": ("Yes.", "No, it is not. " * 12, HOSTILE),
        "b": ("The same.", "The same.", "Another."),
    }
    return [
        {"item": item, "system": f"secret-{place}", "input": f"Message {item}?", "output": text}
        for item, outputs in texts.items()
        for place, text in enumerate(outputs)
    ]


def test_each_output_is_rated_by_keys_on_a_laptop(visit, accessible, tmp_path):
    rater = visit("side-by-side", replies())
    page = rater.page
    cards = page.locator(".output:visible")
    for _ in range(2):
        rater.at_work()
        count = cards.count()
        names = [f"Reply {letter}" for letter in "ABC"[:count]]
        expect(cards.get_by_role("heading", level=2)).to_have_text(names)
        expect(page.get_by_role("radiogroup", name="B: How good is this reply?")).to_be_visible()
        assert "secret-" not in page.content()
        accessible(page)
        boxes = [cards.nth(place).bounding_box() for place in range(count)]
        assert len({round(box["y"]) for box in boxes}) == 1
        if count == 3:
            expect(cards.locator("b, img")).to_have_count(0)
        page.screenshot(path=tmp_path / f"laptop-{count}.png")
        page.keyboard.press("4")
        expect(cards.nth(1).locator(".step.open")).to_have_count(1)
        page.keyboard.press("Control+Enter")
        expect(cards.nth(1).locator("[data-problem]").first).not_to_be_empty()
        for key in "25"[: count - 1]:
            page.keyboard.press(key)
        expect(page.get_by_role("button", name="Submit")).to_be_focused()
        done = len(rater.served.submissions()) + 1
        page.keyboard.press("Enter")
        rater.submitted(done)
    answers = sorted((each["answer"] for each in rater.served.submissions()), key=len)
    assert answers == [
        {"A-quality": 4, "B-quality": 2},
        {"A-quality": 4, "B-quality": 2, "C-quality": 5},
    ]
    assert page.evaluate("document.body.dataset.ran") is None


def test_on_a_phone_outputs_follow_one_another_and_a_draft_comes_back(visit, accessible, tmp_path):
    rater = visit("side-by-side", [row for row in replies() if row["item"] == "a"], context=PHONE)
    page = rater.at_work()
    cards = page.locator(".output:visible")
    tops = [cards.nth(place).bounding_box()["y"] for place in range(3)]
    assert tops == sorted(set(tops))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    accessible(page)
    page.screenshot(path=tmp_path / "phone.png", full_page=True)
    cards.nth(1).evaluate("(card) => scrollTo(0, card.getBoundingClientRect().top + scrollY + 60)")
    assert abs(cards.nth(1).locator(".output-name").bounding_box()["y"]) < 2
    with page.expect_response("**/api/draft"):
        page.get_by_role("radiogroup", name="B: ").get_by_role(
            "radio", name="Good", exact=True
        ).tap()
    page.reload()
    rater.at_work()
    chosen = page.get_by_role("radiogroup", name="B: ").get_by_role("radio", checked=True)
    expect(chosen).to_have_value("4")
    for letter in "AC":
        page.get_by_role("radiogroup", name=f"{letter}: ").get_by_role("radio", name="Fair").tap()
    page.get_by_role("button", name="Submit").tap()
    (stored,) = rater.submitted(1)
    assert stored["answer"] == {"A-quality": 3, "B-quality": 4, "C-quality": 3}
