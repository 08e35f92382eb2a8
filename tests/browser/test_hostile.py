"""Texts of items are texts, whatever stands in them; and the page knows no more than it must."""

import pytest
from playwright.sync_api import expect

HOSTILE = (
    "</script><script>window.hurt = 1</script>"
    "<img src=x onerror='window.hurt = 2'>"
    "{{ 7 * 7 }} ${window.hurt = 3} <b>bold</b> &amp; \" ' <!-- "
    "javascript:window.hurt=4"
)


@pytest.fixture
def page(visit):
    row = {"input": HOSTILE, "output": HOSTILE, "passages": [HOSTILE]}
    rater = visit("answer-correctness", [row], title=f"Title {HOSTILE}")
    return rater.at_work()


def test_a_hostile_item_is_shown_as_text_and_does_nothing(page):
    assert page.locator("#texts [data-field=output]").inner_text() == HOSTILE
    for key in "yyr":
        page.keyboard.press(key)
    expect(page.locator("sy-marker")).to_have_text(HOSTILE)
    page.keyboard.press("Space")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    expect(page.locator("[data-read]").locator("visible=true")).to_contain_text(
        "<img src=x onerror='window.hurt = 2'>"
    )
    expect(page.locator("main img, main script, main b")).to_have_count(0)
    assert page.evaluate("window.hurt") is None
    expect(page.locator(".bar-title")).to_have_text(f"Title {HOSTILE}")


def test_a_hostile_text_can_be_edited_and_sent(visit):
    rater = visit("language-quality", [{"output": HOSTILE}])
    page = rater.at_work()
    for key in "222":
        page.keyboard.press(key)
    expect(rater.question.get_by_role("textbox")).to_have_value(HOSTILE)
    rater.question.get_by_role("textbox").fill(f"{HOSTILE} more")
    page.keyboard.press("Control+Enter")
    assert rater.submitted(1)[0]["answer"]["edit"] == f"{HOSTILE} more"
    assert page.evaluate("window.hurt") is None


def test_an_inline_script_would_be_refused(page, console):
    console.expect("Content Security Policy")
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.hurt = 5";
          document.body.append(script);
        }"""
    )
    assert page.evaluate("window.hurt") is None
    assert any("Content Security Policy" in text for text in console.said)


def test_neither_the_system_nor_the_tutorials_answers_reach_the_page(visit):
    seen = []

    def overhear(route):
        response = route.fetch()
        seen.append(response.text())
        route.fulfill(response=response)

    rater = visit("language-quality", [{"output": "One."}], tutorial=True)
    page = rater.page
    page.locator("#tutorial:not([hidden])").wait_for()
    page.route("**/work", overhear)
    page.route("**/api/**", overhear)
    page.reload()
    page.locator("#tutorial:not([hidden])").wait_for()
    assert len(seen) == 2
    text = page.content() + "".join(seen)
    assert "The town council" in text  # an example
    assert "unseen-system" not in text
    assert "Read it aloud" not in text  # a hint
    assert "There is nothing to correct" not in text  # a feedback


def test_nothing_is_loaded_from_elsewhere_and_no_token_stays_in_the_address(visit):
    asked = []
    rater = visit()
    page = rater.at_work()
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    rater.at_work()
    assert page.url == f"{rater.served.url}/work"
    assert {url for url in asked if not url.startswith(rater.served.url)} == set()
