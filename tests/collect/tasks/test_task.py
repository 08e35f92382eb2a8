import json

import pytest

from steelyard.collect.tasks import (
    check_content,
    load_task,
    score_bounds,
    shipped_tasks,
    visible_widgets,
)
from steelyard.errors import InvalidArgumentError, InvalidDataError

TASK = """\
name: mixed
title: A bit of everything
version: "2"
instructions: |
  Read it.
show:
  - {field: input, label: Question}
  - {field: output, label: Text}
widgets:
  - id: sense
    kind: gate
    label: Does it make sense?
    options: [{value: yes, label: Yes, key: y}, {value: no, label: No, key: n}]
  - id: fluency
    kind: likert
    label: Is it fluent?
    when: sense = yes
    levels:
      - {value: 0, label: Bad, tip: Broken, key: 1}
      - {value: 1, label: Fair, key: 2}
      - {value: 2, label: Good, key: 3}
  - {id: edit, kind: post-edit, field: output, label: Improve it., required: fluency < 2}
  - id: verdicts
    kind: passages
    field: passages
    label: Is it right?
    verdicts:
      - {value: right, label: Right, highlight: true}
      - {value: wrong, highlight: true, confirm: "Not so: {highlights}"}
      - {value: neither}
    confirm: "{output} because {highlights}"
  - {id: quality, kind: slider, label: How good?, min: 0, max: 10, step: 0.5}
  - id: errors
    kind: spans
    field: output
    label: Errors
    severities: [{value: minor, weight: 1}, {value: major, weight: 5}]
    categories: [accuracy, style]
    most: 3
  - {id: sure, kind: confirm, label: Sure?, text: "You gave {quality}.", when: quality < 1}
  - {id: comment, kind: comment, label: Anything else?}
scores:
  - {prompt: fluency, rule: value, from: fluency}
  - {prompt: Edit, rule: edit-distance, from: edit, otherwise: 0}
  - {prompt: any, rule: any, from: verdicts, of: right}
  - {prompt: mean, rule: mean, from: verdicts, of: [right], among: [right, wrong], otherwise: -1}
  - {prompt: sense, rule: any, from: sense, of: yes}
  - {prompt: quality, rule: value, from: quality}
  - {prompt: MQM, rule: weights, from: errors}
tutorial:
  pass: 1
  questions:
    - id: first
      content: {output: It rains.}
      ask: fluency
      answer: [2]
      hint: Read it again.
      feedback: It is fine.
    - id: second
      content: {output: It rains.}
      ask: {id: tone, kind: gate, label: Polite?, options: [{value: a}, {value: b}]}
      answer: a
      hint: Think.
      feedback: It is a.
"""
CONTENT = {"input": "Why?", "output": "It rain.", "passages": ["It rains.", "It snows."]}


def write(folder, text, name="task.yaml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def task(tmp_path):
    return load_task(write(tmp_path, TASK))


def test_a_task_is_read_whole(task):
    assert (task.name, task.version, task.pair) == ("mixed", "2", False)
    assert task.prompts == ("fluency", "Edit", "any", "mean", "sense", "quality", "MQM")
    assert task.fields == ("input", "output", "passages")
    assert task.lists == {"passages"}
    assert task.texts == {"output"}
    assert task.widget("sense").options[0].value == "yes"
    assert task.widget("edit").required == {"id": "fluency", "op": "<", "value": 2}
    assert task.widget("comment").required is False
    assert task.widget("errors").required is False
    assert task.widget("nothing") is None
    assert task.tutorial.tries == 2


def test_a_task_cannot_be_changed(task):
    with pytest.raises(ValueError, match="frozen"):
        task.title = "Other"


def test_bounds_hold_what_otherwise_says(task):
    assert score_bounds(task) == {
        "fluency": (0, 2),
        "Edit": (0, 1),
        "any": (0, 1),
        "mean": (-1, 1),
        "sense": (0, 1),
        "quality": (0, 10),
        "MQM": (0, 15),
    }


def test_the_page_is_told_no_answer_hint_or_feedback(task):
    public = task.public()
    text = json.dumps(public, allow_nan=False)
    for secret in ("Read it again.", "It is fine.", "Think.", "It is a.", '"answer"', '"hint"'):
        assert secret not in text
    assert list(public) == [
        *("name", "title", "version", "instructions", "pair", "screen", "show"),
        *("widgets", "tutorial"),
    ]
    first, second = public["tutorial"]["questions"]
    assert list(first) == ["id", "content", "widget", "ask"]
    # asked alone, it is neither hidden nor needless
    assert (first["ask"]["id"], first["ask"]["when"], first["ask"]["required"]) == (
        *("fluency", None, True),
    )
    assert (second["widget"], second["ask"]["id"]) == (None, "tone")


def test_the_page_gets_parsed_conditions_labels_and_keys(task):
    widgets = {widget["id"]: widget for widget in task.public()["widgets"]}
    assert widgets["fluency"]["when"] == {"id": "sense", "op": "=", "value": "yes"}
    assert widgets["fluency"]["levels"][0] == {
        "value": 0,
        "label": "Bad",
        "tip": "Broken",
        "key": "1",
    }
    assert [(one["label"], one["key"]) for one in widgets["verdicts"]["verdicts"]] == [
        *(("Right", "1"), ("wrong", "2"), ("neither", "3"))
    ]
    assert [one["confirm"] for one in widgets["verdicts"]["verdicts"]] == [
        *("{output} because {highlights}", "Not so: {highlights}", None)
    ]
    # whole numbers are whole
    assert (widgets["quality"]["max"], widgets["quality"]["step"]) == (10, 0.5)
    assert isinstance(widgets["quality"]["max"], int)


def test_a_hidden_widget_hides_those_that_depend_on_it(tmp_path):
    text = TASK.replace("required: fluency < 2", "when: fluency < 2")
    task = load_task(write(tmp_path, text))
    assert {"fluency", "edit"} <= set(visible_widgets(task, {"sense": "yes", "fluency": 0}))
    # what a hidden widget holds does not count
    hidden = visible_widgets(task, {"sense": "no", "fluency": 0})
    assert not {"fluency", "edit"} & set(hidden)


MISTAKES = [
    # keys
    ("title: A", "titlo: A", "line 2, key titlo: is not a key here; did you mean `title`?"),
    ("title: A bit of everything\n", "", "line 1, key title: must be given"),
    ("title: A bit of everything", "title: ''", "line 2, key title: must not be empty"),
    ('version: "2"', "version: 2", "line 3, key version: must be text; got 2: put it in quot"),
    ("kind: gate\n", "kind: gates\n", "key widgets[0]: kind 'gates' is not known; did you mean `gate`?"),
    ("    kind: gate\n", "", "line 10, key widgets[0]: must have the key `kind`"),
    ("    label: Is it fluent?\n", "", "line 14, key widgets[1].label: must be given"),
    ("{field: output, label: Text}", "{fieldd: output}", "line 8, key show[1].fieldd: is not a key here; did"),
    ("tip: Broken", "tips: Broken", "line 19, key widgets[1].levels[0].tips: is not a key here; did you"),
    ("name: mixed", "name: Not good", "line 1, key name: must match"),
    # choices
    ("{value: 1, label: Fair", "{value: 0, label: Fair", "line 20, key widgets[1].levels[1].value: must differ from that of entry 1; both are 0"),
    ("label: Fair, key: 2", "label: Fair, key: 1", "line 20, key widgets[1].levels[1].key: must differ from that of entry 1; both are '1'"),
    ("key: y}", "key: yy}", "line 13, key widgets[0].options[0].key: must match"),
    ("[{value: a}, {value: b}]", "[{value: a}]", "key tutorial.questions[1].ask.options: must have at least 2 entries; got 1"),
    ("value: 0, label: Bad", "value: low, label: Bad", "key widgets[1].levels[0].value: must be a number; got 'low'"),
    ("value: 0, label: Bad", "value: .nan, label: Bad", "key widgets[1].levels[0].value: must be a finite number"),
    ("value: 0, label: Bad", "value: true, label: Bad", "key widgets[1].levels[0].value: must be a number; got true"),
    ("categories: [accuracy, style]", "categories: [style, style]", "key widgets[5].categories[1]: 'style' is there twice"),
    ("weight: 5", "weight: -5", "key widgets[5].severities[1].weight: must be at least 0; got -5"),
    # ids
    ("{id: comment,", "{id: sense,", "key widgets[7].id: must differ from that of entry 1; both are sense"),
    ("{id: comment,", "{id: my comment,", "key widgets[7].id: must match"),
    # conditions
    ("when: sense = yes", "when: sens = yes", "line 17, key widgets[1].when: refers to sens, which is no widget; did you mean `sense`?"),
    ("when: sense = yes", "when: quality > 1", "line 17, key widgets[1].when: refers to quality, which does not come before it"),
    ("when: sense = yes", "when: fluency > 1", "line 17, key widgets[1].when: refers to fluency, which does not come before it"),
    ("when: sense = yes", "when: sense = maybe", "line 17, key widgets[1].when: compares sense with 'maybe', which it cannot be; expected one of yes, no"),
    ("when: sense = yes", "when: sense < yes", "key widgets[1].when: compares sense with <; expected = or !="),
    ("when: sense = yes", "when: sense", "key widgets[1].when: must compare sense with"),
    ("when: sense = yes", "when: 7", "key widgets[1].when: must be a condition in text; got 7"),
    ("required: fluency < 2", "required: fluency < low", "key widgets[2].required: compares fluency with 'low'; expected a number"),
    ("required: fluency < 2", "required: sometimes", "key widgets[2].required: must compare sometimes"),
    ("when: quality < 1", "when: edit = yes", "key widgets[6].when: compares edit, which is of kind post-edit; expected `edit answered`"),
    # texts that are read back
    ('text: "You gave {quality}."', 'text: "You gave {qualty}."', "key widgets[6].text: {qualty} is neither a field shown nor an earlier widget; did you mean `quality`?"),
    ('text: "You gave {quality}."', 'text: "You gave {quality."', "key widgets[6].text: must have a name in each pair of braces"),
    ('"{output} because {highlights}"', '"{comment}"', "key widgets[3].confirm: {comment} is neither"),
    # show and fields
    ("{field: input, label: Question}", "{field: output}", "line 8, key show[1].field: output is shown twice"),
    ("{field: input, label: Question}", "{field: system}", "line 7, key show[0].field: system must not be shown"),
    ("kind: post-edit, field: output", "kind: post-edit, field: system", "key widgets[2].field: system must not be shown"),
    ("name: mixed", "name: mixed\npair: true", "line 9, key show[1].field: a pair has the fields first and second"),
    ("{id: comment, kind: comment, label: Anything else?}", "{id: best, kind: preference, label: Which?}", "key widgets[7].kind: a preference is between two outputs"),
    ("min: 0, max: 10", "min: 10, max: 0", "key widgets[4].max: must be greater than min, 10; got 0"),
    ("step: 0.5", "step: 3", "key widgets[4].step: must divide the range"),
    # scores
    ("from: fluency}", "from: fluancy}", "key scores[0].from: fluancy is no widget; did you mean `fluency`?"),
    ("rule: value, from: fluency", "rule: value, from: sense", "key scores[0].rule: value does not fit sense, which is of kind gate; expected any"),
    ("rule: value, from: fluency", "rule: value, from: comment", "key scores[0].rule: value does not fit comment, which is of kind comment; no rule does"),
    ("rule: value, from: fluency", "rule: mean, from: fluency, of: right", "key scores[0].rule: mean does not fit fluency, which is of kind likert; expected value"),
    ("rule: weights", "rule: weightz", "key scores[6].rule: must be value, edit-distance, any, mean, preference, rank, weights or mqm; got 'weightz'"),
    ("prompt: Edit", "prompt: fluency", "key scores[1].prompt: must differ from that of entry 1; both are 'fluency'"),
    ("from: verdicts, of: right}", "from: verdicts, of: rihgt}", "key scores[2].of: 'rihgt' is no answer to verdicts; did you mean `right`?"),
    ("from: verdicts, of: right}", "from: verdicts}", "key scores[2].of: must be given: the rule any counts it"),
    ("among: [right, wrong]", "among: [wrong]", "key scores[3].among: must contain what `of` names"),
    ("from: fluency}", "from: fluency, of: yes}", "key scores[0].of: has no meaning for the rule value"),
    ("from: fluency}", "from: fluency, otherwise: none}", "key scores[0].otherwise: must be a number; got 'none'"),
    # tutorial
    ("  pass: 1", "  pass: 3", "key tutorial.pass: must be at most the number of questions, 2; got 3"),
    ("- id: second", "- id: first", "key tutorial.questions[1].id: must differ from that of entry 1; both are first"),
    ("      ask: fluency\n", "      ask: fluenci\n", "key tutorial.questions[0].ask: fluenci is no widget; did you mean `fluency`?"),
    ("      ask: fluency\n", "", "key tutorial.questions[0].ask: must be given"),
    ("answer: [2]", "answer: [7]", "key tutorial.questions[0].answer[0]: 7 is not an answer to fluency; expected one of 0"),
    ("answer: [2]", "answer: []", "key tutorial.questions[0].answer: must accept at least one value"),
    ("      ask: fluency\n", "      ask: comment\n", "key tutorial.questions[0].answer: a widget of kind comment has no right answer"),
    ("      content: {output: It rains.}\n      ask: fluency", "      content: {input: It rains.}\n      ask: edit", "key tutorial.questions[0].content: must have the field output: edit is about it"),
    ("      content: {output: It rains.}\n      ask: fluency", "      content: {output: [It rains.]}\n      ask: edit", "key tutorial.questions[0].content.output: must be one text for edit"),
    ("      hint: Think.\n", "", "key tutorial.questions[1].hint: must be given"),
    # YAML
    ("title: A", "title: B\ntitle: A", "line 3, key title: the key is there twice, first on line 2"),
    ("\n    kind: gate", "\n\tkind: gate", "line 11: is not YAML: a tab cannot indent"),
    ("  - {field: input, label: Question}\n  - {field: output, label: Text}\n", "", "line 6, key show: must be a list; got nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_named_by_file_line_and_key(tmp_path, old, new, message):
    assert old in TASK
    with pytest.raises(InvalidDataError) as caught:
        load_task(write(tmp_path, TASK.replace(old, new, 1)))
    said = str(caught.value)
    assert said.startswith("task.yaml, line ")
    assert message in said
    assert "\n" not in said


def test_the_first_of_several_mistakes_is_named(tmp_path):
    text = TASK.replace("tip: Broken", "tips: Broken").replace("title: A", "titlo: A")
    with pytest.raises(InvalidDataError, match="line 2, key titlo"):
        load_task(write(tmp_path, text))


PAIR = """\
name: pair
title: Which?
pair: true
show: [{field: input}, {field: first}, {field: second}]
widgets:
  - {id: better, kind: preference, label: Which is better?, ties: false}
  - {id: much, kind: likert, label: By how much?, levels: [{value: 1}, {value: 2}], when: better = first}
scores:
  - {prompt: preference, rule: preference, from: better}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", {field: second}", "", "line 4, key show: must show the field second"),
        ("better = first", "better = tie", "compares better with 'tie', which it cannot be"),
        (
            "  - {id: much, kind: likert, label: By how much?, levels: [{value: 1}, {value: 2}], when: better = first}",
            "  - {id: edit, kind: post-edit, field: first, label: Improve it.}",
            "key widgets[1].field: the outputs of a pair change places",
        ),
    ],
)
def test_a_pair_shows_both_outputs_and_marks_neither(tmp_path, old, new, message):
    assert load_task(write(tmp_path, PAIR)).texts == {"first", "second"}
    assert old in PAIR
    with pytest.raises(InvalidDataError) as caught:
        load_task(write(tmp_path, PAIR.replace(old, new)))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("from: edit, otherwise: 0", "from: edit, length: edited", "scores[1].length: is gone"),
        ("from: edit, otherwise: 0", "from: edit, unit: words", "scores[1].unit: is gone"),
        ("label: Anything else?", "label: Anything else?, max: 9", "widgets[7].max: is gone"),
        ("      ask: fluency", "      widget: fluency", "widget: is gone: it is called `ask`"),
    ],
)
def test_keys_of_before_are_told(tmp_path, old, new, message):
    with pytest.raises(InvalidDataError) as caught:
        load_task(write(tmp_path, TASK.replace(old, new)))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, None),
        ({"passages": []}, None),
        ({"output": None}, "`output` must be given: the task mixed shows it"),
        ({"output": ["a"]}, "`output` must be text; got a list"),
        ({"input": ["a", "b"]}, None),
        ({"input": 3}, "`input` must be text; got 3"),
        ({"passages": "a"}, "`passages` must be a list of texts; got 'a'"),
        ({"passages": ["a", 1]}, "`passages` must be a list of texts; got a list"),
    ],
)
def test_content_has_the_fields_of_the_task(task, changed, message):
    assert check_content(task, CONTENT | changed) == message


def test_a_task_is_found_by_its_name_or_its_path(tmp_path):
    assert shipped_tasks() == (
        *("answer-correctness", "direct-assessment", "esa", "language-quality", "mqm", "pairwise"),
        "side-by-side",
    )
    assert load_task("pairwise").pair
    with pytest.raises(
        InvalidArgumentError, match=r"or one of answer-correctness.*got 'none.yaml'"
    ):
        load_task("none.yaml")
    with pytest.raises(InvalidArgumentError, match="`task` must be an existing YAML file"):
        load_task(tmp_path)
