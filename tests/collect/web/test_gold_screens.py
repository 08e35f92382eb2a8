"""Gold on screens with several outputs: graded wherever the texts stand, told, and counted."""

import json

import pytest

from steelyard.collect.dashboard.answers import answers_of
from steelyard.collect.dashboard.exports import export, judgments
from steelyard.collect.policy.rater_work import RaterWorkCache
from steelyard.collect.tasks.screen import field_at, letters_in
from steelyard.errors import InvalidDataError

RATED = """\
name: screens
title: How good is each?
side_by_side: true
show: [{field: input, label: Question}, {field: output, label: Text}]
widgets:
  - {id: good, kind: likert, label: "Good?", levels: [{value: 1}, {value: 2}, {value: 3}]}
scores: [{prompt: good, rule: value, from: good}]
"""
RANKED = RATED.replace(
    'id: good, kind: likert, label: "Good?", levels: [{value: 1}, {value: 2}, {value: 3}]',
    "id: good, kind: ranking, label: Order",
).replace("rule: value", "rule: rank")
EVERY = "gold: {file: gold.jsonl, every: 2}\n"
ROWS = [
    {
        "item": f"i{item}",
        "system": system,
        "input": "Which?",
        "output": f"{system} {item}",
        "length": 1,
    }
    for item in range(20)
    for system in ("one", "two", "three")
]
# of the middle one nothing is known
KNOWN = {
    RATED: {"Gold good.": {"good": [2, 3]}, "Gold middling.": {}, "Gold bad.": {"good": 1}},
    RANKED: {"Gold good.": {"good": 1}, "Gold middling.": {}, "Gold bad.": {"good": 2}},
}


def gold(known, **more):
    outputs = [{"output": text} | ({"answer": one} if one else {}) for text, one in known.items()]
    return {"input": "Which?", "outputs": outputs} | more


@pytest.fixture
def start(serve, tmp_path):
    def begin(task, extra="", *, lines=None, **more):
        found = lines or [gold(KNOWN[task], **more, input=f"Check {one}?") for one in range(10)]
        (tmp_path / "gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
        return serve(EVERY + extra, rows=ROWS, task=task, n=20)

    return begin


def answer_to(task, content, worth):
    """Answer by what each text is worth; 1 the worst."""
    values = {letter: worth(content[field_at(letter)]) for letter in letters_in(content)}
    if task is RANKED:
        return {"good": {letter: 4 - value for letter, value in values.items()}}
    return {f"{letter}-good": value for letter, value in values.items()}


def right(text):
    return {"Gold good.": 3, "Gold middling.": 2, "Gold bad.": 1}.get(text, 2)


def wrong(text):
    # what is known is taken for its opposite; what is not known does not matter
    return {"Gold good.": 1, "Gold middling.": 3, "Gold bad.": 2}.get(text, 2)


def judge(rater, task, worth):
    """Judge what is next; return what was shown and what was said."""
    given = rater.next()["assignment"]
    answer = answer_to(task, given["content"], worth)
    sent = rater.submit(given["id"], answer, key=f"key-{given['id']}")
    assert sent.status_code == 200, sent.text
    return given["content"], sent.json()["feedback"]


def is_gold(content):
    return content[field_at("A")].startswith("Gold")


@pytest.mark.parametrize("task", [RATED, RANKED], ids=["rated", "ranked"])
def test_a_check_is_graded_wherever_its_texts_stand(start, task):
    server = start(task, feedback="Look again.")
    rater = server.rater()
    orders = set()
    for number in range(16):
        is_right = number % 4 < 2
        content, said = judge(rater, task, right if is_right else wrong)
        assert (said == "Look again.") == (is_gold(content) and not is_right), content
        if is_gold(content):
            orders.add(tuple(content[field_at(letter)] for letter in "ABC"))
    # that all eight have one order has a chance below one in a hundred thousand
    assert len(orders) > 1
    lines = export("submissions.jsonl", server.store, server.campaign).body.decode().splitlines()
    found = [one for one in map(json.loads, lines) if one["gold"]]
    assert {one["gold_right"] for one in found} == {True, False}
    # gold enters no estimate
    items = set(judgments(server.store, server.campaign, rows="all")["item"])
    assert items <= {row["item"] for row in ROWS}
    missed = server.store.read(
        lambda one: answers_of(
            one, server.campaign, work=RaterWorkCache(server.campaign)(one), show="gold-missed"
        )
    )
    assert missed["total"] == sum(not one["gold_right"] for one in found)
    labels = {text["label"] for one in missed["answers"] for text in one["texts"]}
    assert labels == {"Question", "A", "B", "C"}


@pytest.mark.parametrize("task", [RATED, RANKED], ids=["rated", "ranked"])
def test_who_misses_gold_is_left_out_and_an_honest_rater_is_not(start, task):
    server = start(task, "quality: {gold_failures: 2}\n")
    cheat, honest = server.rater("ann"), server.rater("bob")
    for _ in range(10):
        if cheat.next()["status"] == "task":
            judge(cheat, task, wrong)
        judge(honest, task, right)
    assert cheat.next()["reason"] == "excluded"
    assert honest.next()["status"] == "task"
    left_out = judgments(server.store, server.campaign, rows="all").filter(rater="rater-1")
    assert set(left_out["use"]) == {"excluded"}


def test_ties_do_not_meet_a_known_order(start):
    server = start(RANKED, feedback="Look again.")
    rater = server.rater()
    said = [judge(rater, RANKED, lambda _: 2) for _ in range(4)]
    assert {feedback for content, feedback in said if is_gold(content)} == {"Look again."}


@pytest.mark.parametrize(
    ("task", "row", "message"),
    [
        (
            RATED,
            {"input": "Which?", "output": "x", "answer": {}},
            "`outputs` must be a list of 2 to 6",
        ),
        (RATED, gold({"x": {"good": 1}}), "`outputs` must be a list of 2 to 6"),
        (RATED, gold({"x": {"good": 1}, "y": {}}) | {"input": 3}, "`input` must be text"),
        (RATED, gold({"x": {}, "y": {}}), "must name a widget with what is accepted"),
        (RATED, gold({"x": {"god": 1}, "y": {}}), "god is no widget; did you mean `good`?"),
        (RATED, gold({"x": {"good": 9}, "y": {}}), "key outputs[0].answer.good"),
        (RATED, gold({"x": {"good": 1}, "y": {}}, feedback=""), "`feedback` must be text"),
        (RANKED, gold({"x": {"good": 1}, "y": {}}), "must have two different places"),
        (RANKED, gold({"x": {"good": 1}, "y": {"good": 1}}), "must have two different places"),
        (RANKED, gold({"x": {"good": 0}, "y": {"good": 1}}), "must be a whole number from 1"),
        (
            RATED,
            {"input": "Which?", "outputs": [{"output": "x", "answer": {"good": 1}}] * 2},
            "key outputs[1].output: must be a text that differs",
        ),
        (
            RATED,
            {"input": "Which?", "outputs": ["x", "y"]},
            "key outputs[0]: must have the key output",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named(start, task, row, message):
    with pytest.raises(InvalidDataError) as error:
        start(task, lines=[row])
    assert "gold.jsonl, line 1" in str(error.value)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
