"""The rater's page in another language: nothing of it is left in English."""

from playwright.sync_api import expect

from steelyard.collect.config.wording import english

WELCOME = {"purpose": "Wir prüfen Texte.", "consent": "Ich bin 18 Jahre alt."}
PROSE = [
    text
    for text in english().texts.values()
    if isinstance(text, str) and " " in text and "{" not in text
]


def in_german(page):
    said = page.locator("body").inner_text()
    assert [text for text in PROSE if text in said] == []


def test_a_visit_in_german_from_the_first_page_to_the_end(visit, accessible):
    rater = visit(
        outputs=[{"output": "Ein Satz."}],
        language="de",
        welcome=WELCOME,
        pay={"currency": "EUR", "per_judgment": 0.4, "expected_seconds": 60},
    )
    page = rater.page
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("#welcome")).to_contain_text(
        "dauert etwa 60 Sekunden und wird mit 0,40 EUR bezahlt"
    )
    in_german(page)
    page.get_by_role("button", name="Ich stimme zu").click()
    rater.at_work()
    page.keyboard.press("Control+Enter")
    expect(rater.question.locator("[data-problem]")).to_have_text(
        "Diese Frage braucht eine Antwort."
    )
    in_german(page)
    accessible(page)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("Strg+Eingabe")
    in_german(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Das kann ich nicht beurteilen…").click()
    in_german(page)
    page.get_by_role("button", name="Abbrechen").click()
    for key in ("3", "3", "3", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Es ist nichts mehr zu beurteilen")).to_be_visible()
    in_german(page)


def test_a_link_that_does_not_hold_is_explained_in_german(
    serve, write_campaign, open_page, console
):
    console.expect("Failed to load resource")
    served = serve(write_campaign(language="de"))
    page = open_page(f"{served.url}/nothing")
    expect(page.get_by_role("heading")).to_have_text("Hier ist nichts")
    in_german(page)
    page.goto(f"{served.url}/join?token=nonsense")
    expect(page.get_by_role("heading")).to_have_text("Bitte öffnen Sie Ihren Link noch einmal")
    in_german(page)
