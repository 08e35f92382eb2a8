"""Texts laid out as markdown, code, tables and dialogues; and hostile ones, which stay texts."""

import pytest
from playwright.sync_api import expect

from .test_hostile import HOSTILE

FORMATS = ("markdown", "code", "table", "dialogue")
TASK = {
    "name": "formats",
    "title": "Formats",
    "show": [{"field": name, "label": name.title(), "format": name} for name in FORMATS],
    "widgets": [{"id": "good", "kind": "slider", "label": "How good?"}],
    "scores": [{"prompt": "good", "rule": "value", "from": "good"}],
}
MARKDOWN = """\
# Weather

It was **very** *cold* on `Monday`,
see [the table](https://example.org/t).

- snow
- ice
  and more ice

1. first

> They said
> so.

```python
a < b
```

| day | degrees |
|-----|--------:|
| Mon | **-3** |

![a map](https://example.org/map.png)
"""
ROW = {
    "markdown": MARKDOWN,
    "code": "def f(x):\n    return x < 1\n",
    "table": 'name,says\nAnn,"Hello, ""you"""\n',
    "dialogue": [
        {"role": "User", "content": "Where is it?"},
        {"role": "Assistant", "content": "In the park.\nNear the gate: no, at it."},
    ],
    "output": "x",
}


@pytest.mark.usefixtures("observer_here")
def test_texts_are_laid_out_in_their_formats(visit, accessible, open_page, tmp_path):
    rater = visit(TASK, [ROW])
    page = rater.at_work()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    field = {name: page.locator(f"[data-field={name}]") for name in FORMATS}
    made = field["markdown"]
    expect(made.locator(".heading")).to_have_text("Weather")
    expect(made.locator("p strong")).to_have_text("very")
    expect(made.locator("p em")).to_have_text("cold")
    expect(made).to_contain_text("the table (https://example.org/t)")
    expect(made.locator("ul li")).to_have_text(["snow", "ice and more ice"])
    expect(made.locator("ol li")).to_have_text(["first"])
    expect(made.locator("blockquote")).to_have_text("They said so.")
    expect(made.locator("pre")).to_have_text("a < b")
    expect(made.locator("th")).to_have_text(["day", "degrees"])
    expect(made.locator("td strong")).to_have_text("-3")
    expect(made).to_contain_text("[a map]")
    expect(made.locator("a, img")).to_have_count(0)
    assert field["code"].locator("pre").text_content() == ROW["code"]
    expect(field["table"].locator("td")).to_have_text(["Ann", 'Hello, "you"'])
    expect(field["dialogue"].locator(".speaker")).to_have_text(["User", "Assistant"])
    expect(field["dialogue"].locator(".turn.shaded")).to_contain_text(["In the park."])
    accessible(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.screenshot(path=tmp_path / "formats.png")
    assert asked == []
    page.get_by_role("slider").press("ArrowRight")
    page.keyboard.press("Control+Enter")
    rater.submitted(1)
    admin = open_page(rater.served.admin_link)
    admin.goto(f"{rater.served.url}/admin/answers")
    expect(admin.locator(".answer-text").first).to_have_attribute("tabindex", "0")
    accessible(admin)


def test_hostile_texts_stay_texts_in_every_format(visit):
    lines = f"| a | {HOSTILE} |\n|---|---|\n\n# {HOSTILE}\n\n[{HOSTILE}](javascript:window.hurt=5) ![x](javascript:window.hurt=6)\n"
    row = dict.fromkeys((*FORMATS, "output"), HOSTILE) | {"markdown": f"{HOSTILE}\n\n{lines}"}
    page = visit(TASK, [row]).at_work()
    for name in FORMATS:
        expect(page.locator(f"[data-field={name}]")).to_contain_text(
            "<img src=x onerror='window.hurt = 2'>"
        )
    expect(
        page.locator("#texts").locator("a, img, script, iframe, style, b, [onerror]")
    ).to_have_count(0)
    assert page.evaluate("window.hurt") is None


def test_turns_of_a_machine_look_alike_wherever_a_dialogue_begins(visit):
    reply = "assistant: Call us.\nUser: I did.\nAssistant: Then block it."
    page = visit(TASK, [ROW | {"dialogue": reply}]).at_work()
    turns = page.locator("[data-field=dialogue] .turn")
    expect(turns).to_have_text(["assistantCall us.", "UserI did.", "AssistantThen block it."])
    assert [" shaded" in one.get_attribute("class") for one in turns.all()] == [True, False, True]


def test_without_a_machine_every_second_speaker_is_shaded(visit):
    said = ["Ann: Hello.", "Ann: Is anybody there?", "Bob: Yes.", "Ann: Good."]
    page = visit(TASK, [ROW | {"dialogue": said}]).at_work()
    turns = page.locator("[data-field=dialogue] .turn")
    expect(turns).to_have_count(4)
    shaded = [" shaded" in one.get_attribute("class") for one in turns.all()]
    assert shaded == [False, False, True, False]
