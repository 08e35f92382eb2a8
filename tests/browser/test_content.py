"""Suggested and missing errors, documents, files and formulas, in the browser."""

import json

import pytest
from playwright.sync_api import expect

from steelyard.collect.dashboard.exports import export, judgments

from .test_hostile import HOSTILE

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
OUTPUT = "The train falls out today because of storm."
SUGGESTED = [
    {"start": 10, "end": 19, "severity": "major"},
    {"start": 37, "end": 42, "severity": "minor"},
    {"missing": True},
]
NOTICE = {"input": "Der Zug fällt heute wegen eines Sturms aus.", "output": OUTPUT}


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


class TestSuggestedErrors:
    def test_each_is_accepted_changed_or_removed_before_the_score(self, visit, accessible):
        rater = visit("esa", [NOTICE | {"found": SUGGESTED}])
        page = rater.at_work()
        expect(page.locator("mark")).to_have_text(["falls out", "storm"])
        expect(page.locator(".suggested")).to_have_count(3)
        accessible(page)
        rater.question.get_by_role("button", name="Next").click()
        problem = rater.question.locator("[data-problem]").last
        expect(problem).to_have_text("Error 1 is a suggestion: accept it, change it or remove it.")
        page.get_by_role("button", name="Accept the suggested error “falls out”").click()
        page.get_by_role("button", name="Remove the mark on “storm”").click()
        page.get_by_role("radiogroup", name="Severity of “Something is missing”").get_by_role(
            "radio", name="Minor"
        ).check(force=True)
        expect(page.locator(".suggested")).to_have_count(0)
        accessible(page)
        rater.question.get_by_role("button", name="Next").click()
        rater.question.get_by_role("slider").click()
        page.get_by_role("button", name="Submit").click()
        (sent,) = rater.submitted(1)
        assert sent["answer"]["errors"] == [
            {"start": 10, "end": 19, "severity": "major", "category": None, "suggested": 0},
            {"missing": True, "severity": "minor", "category": None, "suggested": 2},
        ]
        served = rater.served
        body = export("errors.jsonl", served.store, served.app.state.site.campaign, rows="all").body
        rows = [json.loads(line) for line in body.splitlines()]
        assert [(row["text"], row["origin"], row["weight"]) for row in rows] == [
            ("falls out", "suggested", 5),
            (None, "changed", 1),
            ("storm", "removed", 0),
        ]

    def test_a_draft_brings_back_what_is_not_settled(self, visit):
        rater = visit("esa", [NOTICE | {"found": SUGGESTED[:2]}])
        page = rater.at_work()
        press(page, "a")
        expect(page.locator("#saved")).to_contain_text("Draft saved")
        page.reload()
        rater.at_work()
        expect(page.locator("mark")).to_have_text(["falls out", "storm"])
        expect(page.locator(".suggested")).to_have_count(1)

    def test_all_by_the_keyboard(self, visit):
        rater = visit("esa", [NOTICE | {"found": SUGGESTED[:2]}])
        page = rater.at_work()
        press(page, "a", "a")
        expect(page.locator(".suggested")).to_have_count(0)
        press(page, "+", "j")
        expect(
            page.get_by_role("radiogroup", name="Severity of “Something is missing”")
        ).to_be_visible()
        press(page, "Control+Enter")
        expect(rater.question).to_contain_text("How good is the translation")
        press(page, "Home", "Control+Enter")
        (sent,) = rater.submitted(1)
        assert [one.get("missing", False) for one in sent["answer"]["errors"]] == [
            False,
            False,
            True,
        ]


class TestMQM:
    def test_an_error_needs_a_category(self, visit, accessible):
        rater = visit("mqm", [NOTICE])
        page = rater.at_work()
        rater.drag("falls out")
        press(page, "j")
        rater.question.get_by_role("button", name="Next").click()
        problem = rater.question.locator("[data-problem]").last
        expect(problem).to_have_text("Error 1: choose what kind of error it is.")
        page.get_by_label("Category of “falls out”").select_option("accuracy/mistranslation")
        # what is added is the error in hand, wherever the focus was
        press(page, "j", "+", "c")
        page.get_by_label("Category of “Something is missing”").select_option("accuracy/omission")
        accessible(page)
        page.get_by_role("button", name="Submit").click()
        rater.submitted(1)
        found = judgments(rater.served.store, rater.served.app.state.site.campaign)
        assert found["score"].to_list() == [-30]

    def test_on_a_phone(self, visit, accessible):
        rater = visit("mqm", [NOTICE], context=PHONE)
        page = rater.at_work()
        page.get_by_role("button", name="Something is missing").tap()
        assert fits(page)
        accessible(page)


DOCUMENT = [
    {
        "item": f"d{number}",
        "document": "d",
        "output": f"Sentence {number}.",
        "input": f"Satz {number}.",
    }
    for number in (1, 2, 3)
]


class TestDocuments:
    @pytest.mark.parametrize("context", [{}, PHONE])
    def test_what_came_before_is_shown(self, visit, accessible, context):
        rater = visit(
            "mqm",
            DOCUMENT,
            documents={"column": "document"},
            sample={"n": 1, "seed": 1},
            context=context,
        )
        page = rater.at_work()
        place = page.locator("#document [data-place]")
        expect(place).to_have_text("Part 1 of 3 of this document")
        expect(page.locator("#document details")).to_be_hidden()
        page.get_by_role("button", name="Submit").click()
        expect(rater.question.locator("[data-problem]").last).to_have_text(
            "Mark the errors, or say that there is none."
        )
        none = page.get_by_role("checkbox", name="There is no error")
        none.check()
        page.get_by_role("button", name="Submit").click()
        expect(place).to_have_text("Part 2 of 3 of this document")
        none.check()
        page.get_by_role("button", name="Submit").click()
        expect(place).to_have_text("Part 3 of 3 of this document")
        if context:
            expect(page.locator(".earlier")).to_be_hidden()
            page.get_by_text("What came before", exact=True).tap()
        expect(page.locator(".earlier li")).to_have_count(2)
        expect(page.locator(".earlier li").last).to_contain_text("Sentence 2.")
        assert fits(page)
        accessible(page)


FILES = {
    "name": "files",
    "title": "Files",
    "show": [
        {"field": "output", "label": "Picture", "format": "image"},
        {"field": "speech", "label": "Speech", "format": "audio"},
        {"field": "film", "label": "Film", "format": "video"},
        {"field": "notes", "label": "Notes", "format": "markdown", "math": True},
        {"field": "proof", "label": "Proof", "math": True},
    ],
    "widgets": [{"id": "good", "kind": "slider", "label": "How good?"}],
    "scores": [{"prompt": "good", "rule": "value", "from": "good"}],
}
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60" onload="window.hurt = 7">
<script>window.hurt = 8; parent.hurt = 9</script><rect width="90" height="60" fill="teal"/></svg>"""


def test_files_and_formulas_are_shown_and_hostile_ones_are_inert(
    write_campaign, serve, open_page, accessible, console
):
    console.expect("media|audio|video|Failed to load")
    row = {
        "output": "one.svg",
        "speech": "talk.wav",
        "film": "film.webm",
        "notes": f"# Energy\n\n$E = mc^2$ ![a box](one.svg) ![far](https://example.org/a.png) {HOSTILE}",
        "proof": f"So $$\\frac{{a}}{{b}}$$ costs $5. $\\href{{javascript:window.hurt=3}}{{x}}$ {HOSTILE}",
    }
    path = write_campaign(FILES, [row], media="files")
    folder = path.parent / "files"
    folder.mkdir()
    (folder / "one.svg").write_text(DRAWING)
    (folder / "talk.wav").write_bytes(_silence())
    (folder / "film.webm").write_bytes(b"\x1aE\xdf\xa3")
    served = serve(path)
    page = open_page(served.rater_link)
    page.locator("#work:not([hidden])").wait_for()
    picture = page.locator("[data-field=output] img")
    expect(picture).to_have_attribute("alt", "Picture")
    expect(picture).to_have_js_property("naturalWidth", 90)
    expect(page.locator("[data-field=notes] img")).to_have_count(1)
    expect(page.locator("[data-field=notes] math msup")).to_have_count(1)
    expect(page.locator("[data-field=notes]")).to_contain_text("[far]")
    expect(page.locator("[data-field=proof] math mfrac")).to_have_count(1)
    expect(page.locator("[data-field=proof]")).to_contain_text("costs $5.")
    expect(page.locator("[data-field=speech] audio")).to_have_js_property("readyState", 4)
    assert "one.svg" not in page.content()
    assert page.locator("#texts [href], #texts [onerror], #texts script").count() == 0
    accessible(page)
    source = picture.get_attribute("src")
    page.set_viewport_size({"width": 390, "height": 844})
    assert fits(page)
    assert page.evaluate("window.hurt") is None
    console.expect("sandbox|Content Security Policy|inline")
    page.goto(f"{served.url}/{source}")
    assert page.evaluate("window.hurt") is None


def _silence():
    """A tenth of a second of nothing, as WAV."""
    data = bytes(1600)
    head = (
        b"RIFF" + (36 + len(data)).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    )
    form = (
        (1).to_bytes(2, "little") * 2 + (8000).to_bytes(4, "little") + (16000).to_bytes(4, "little")
    )
    form += (2).to_bytes(2, "little") + (16).to_bytes(2, "little")
    return head + form + b"data" + len(data).to_bytes(4, "little") + data


@pytest.mark.parametrize("context", [{}, PHONE])
def test_a_scale_is_one_row_of_equal_steps(visit, context):
    words = ("Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree")
    scales = {f"q{n}": [{"value": k} for k in range(n)] for n in (2, 3, 4, 7, 9, 11)}
    scales["words"] = [{"value": place, "label": word} for place, word in enumerate(words)]
    widgets = [
        {"id": name, "kind": "likert", "label": name, "levels": levels}
        for name, levels in scales.items()
    ]
    scores = [{"prompt": "q2", "rule": "value", "from": "q2"}]
    shown = [{"field": "output", "label": "Text"}]
    task = {
        "name": "scales",
        "title": "Scales",
        "show": shown,
        "widgets": widgets,
        "scores": scores,
    }
    rater = visit(task, context=context)
    page = rater.at_work()
    for name, levels in scales.items():
        expect(rater.question).to_have_attribute("data-step", name)
        boxes = [one.bounding_box() for one in rater.question.locator(".option").all()]
        assert len(boxes) == len(levels)
        assert len({box["y"] for box in boxes}) == 1, name
        widths = [box["width"] for box in boxes]
        assert max(widths) - min(widths) < 1, (name, widths)
        assert fits(page)
        rater.question.get_by_role("radio").first.check(force=True)
