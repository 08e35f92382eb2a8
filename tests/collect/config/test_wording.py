"""What the pages say: all of it in one file, and in the language of the campaign."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest

import steelyard.collect
from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.config.wording import (
    TEXTS,
    Wording,
    english,
    phrase,
    placeholders,
    shipped_languages,
)
from steelyard.collect.config.yaml_lines import read_yaml
from steelyard.collect.policy.visit import Reason
from steelyard.errors import InvalidDataError

ENDS = {*get_args(Reason)} - {"wait", "paused"}
HOME = Path(steelyard.collect.__file__).parent
TEMPLATES = [HOME / "templates" / f"{name}.html" for name in ("base", "message", "work", "widgets")]
MODULES = sorted((HOME / "static" / "rater").glob("*.js"))
PYTHON = sorted(HOME.rglob("*.py"))
# Names of keys, as the browser calls them, and of headers: nobody reads these.
NAMES = re.compile(
    r"(?:(?:Ctrl\+|Alt\+)?(?:Arrow\w+|Enter|Escape|Home|End|Delete|Backspace|Space|Arrow)(?: or )?)+"
    r"|Content-Type|X-CSRF-Token|BroadcastChannel|Infinity|GET|POST|PUT"
)
# What is put together from a key's beginning and its end.
COMPOSED = {
    *(f"ended-{reason}" for reason in ENDS),
    *(f"ended-title-{reason}" for reason in ENDS),
    "refused-title",
    *(f"{part}-{kind}" for part in ("screening", "exit") for kind in ("title", "lead")),
    *(f"refused-title-{status}" for status in (400, 401, 403, 404, 429, 503)),
    *(f"{kind}-{way}" for kind in ("highlight", "mark") for way in ("touch", "mouse")),
    # of a file without a label, by its format
    *("image", "audio", "video"),
}


class Prose(HTMLParser):
    """Collects what a reader of a page would read or hear."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_data(self, data):
        if re.search(r"[A-Za-z]{2}", data):
            self.found.append(" ".join(data.split()))

    def handle_starttag(self, _tag, attrs):
        spoken = {
            "aria-label",
            "title",
            "placeholder",
            "alt",
            "aria-valuetext",
            "aria-roledescription",
        }
        self.found += [
            value for name, value in attrs if name in spoken and re.search("[a-z]", value)
        ]


def used_keys():
    for file in [*TEMPLATES, *MODULES]:
        for key in re.findall(r"""\bt\(\s*["']([a-z0-9-]+)["'][,)\s]""", file.read_text("utf-8")):
            yield file.name, key
    for file in PYTHON:
        for key in re.findall(
            r'\b(?:phrase|say|wording)\(\s*"([a-z0-9-]+)"', file.read_text("utf-8")
        ):
            yield file.name, key


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_no_template_says_anything_itself(file):
    text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", " ", file.read_text("utf-8"), flags=re.DOTALL)
    page = Prose()
    page.feed(text)
    # the name of what serves an unnamed page
    assert [said for said in page.found if said != "Steelyard"] == []


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.name)
def test_no_module_says_anything_itself(file):
    text = re.sub(
        r"/\*.*?\*/|(?<![:\"'])//[^\n]*|^import .*?;$",
        "",
        file.read_text("utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
    text = re.sub(r"throw new Error\(.*?\);", "", text)  # mistakes of ours, for the console
    for literal in re.findall(r"\"[^\"\n]*\"|`[^`]*`", text):
        said = re.sub(r"\$\{[^{}]*\}", "", literal[1:-1])
        if NAMES.fullmatch(said):
            continue
        assert not re.search(r"\b[A-Z][a-z]+", said), literal
        assert not re.fullmatch(r"[a-z]+( [a-z]+){2,}[.!?]?", said), literal


def test_every_text_that_is_asked_for_is_there_and_every_text_there_is_asked_for():
    used = {key for _, key in used_keys()} | COMPOSED
    assert used - english().texts.keys() == set()
    assert english().texts.keys() - used == set()


@pytest.mark.parametrize("language", shipped_languages())
def test_a_shipped_language_has_all_texts_and_fills_in_the_same(language):
    data = read_yaml(Path(str(TEXTS / f"{language}.yaml"))).data
    data = {key: text for key, text in data.items() if key not in {"language", "direction"}}
    assert data.keys() == english().texts.keys()
    for key, text in data.items():
        assert placeholders(text) == placeholders(english().texts[key]), key


def test_a_message_is_english_until_a_page_says_it_in_another_language():
    made = phrase("passage-problem", n=2, problem=phrase("give-verdict"))
    assert made == "Passage 2: give a verdict."
    german = Wording("de", "ltr", {**read_yaml(Path(str(TEXTS / "de.yaml"))).data})
    assert german.of(made) == "Stelle 2: geben Sie ein Urteil ab."
    assert german.of("no text of ours") == "no text of ours"
    assert (german("words-changed", n=1), german("words-changed", n=3)) == (
        "1 Wort geändert",
        "3 Wörter geändert",
    )


def in_language(folder, language, **files):
    (folder / "outputs.jsonl").write_text('{"item": 1, "system": "a", "output": "x"}\n')
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    path = folder / "campaign.yaml"
    path.write_text(
        "title: T\noutputs: outputs.jsonl\ntask: language-quality\nsample: {n: 1, seed: 1}\n"
        f"language: {language}\n"
    )
    return load_campaign(path).wording


def test_a_campaign_names_a_language_or_a_file_of_texts(tmp_path):
    assert in_language(tmp_path, "de")("submit") == "Absenden"
    own = in_language(tmp_path, "own.yaml", own="language: ar\ndirection: rtl\nsubmit: إرسال\n")
    assert (own.language, own.direction, own("submit")) == ("ar", "rtl", "إرسال")
    # what it lacks stays in English
    assert own("cancel") == "Cancel"


@pytest.mark.parametrize(
    ("language", "text", "message"),
    [
        ("xx", "", "campaign.yaml, line 5, key language: there is no file 'xx', nor a language"),
        ("own.yaml", "submit: Los\n", "own.yaml, line 1, key language: must be the tag"),
        ("own.yaml", "language: de\ndirection: up\n", "line 2, key direction: must be ltr or rtl"),
        ("own.yaml", "language: de\nsubmitt: x\n", "line 2, key submitt: is no text of the pages; did you mean `submit`?"),
        ("own.yaml", "language: de\nquestion: Frage {m}\n", "key question: {m} is not filled in here; what is: {n}"),
        ("own.yaml", "language: de\nsubmit: ''\n", "key submit: must be text"),
        ("own.yaml", "language: de\nsubmit: {other: x, one: y}\n", "key submit: must be text"),
        ("own.yaml", "language: de\nerrors: {one: x}\n", "key errors: must have `other`"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_of_texts_is_named(tmp_path, language, text, message):
    with pytest.raises(InvalidDataError) as caught:
        in_language(tmp_path, language, own=text)
    assert message in str(caught.value)
