"""Outputs of several systems on one screen: from the page to the comparison."""

import json
from collections import Counter

import pytest

from steelyard.collect.dashboard.answers import answers_of
from steelyard.collect.dashboard.exports import export, judgments
from steelyard.collect.policy.rater_work import RaterWorkCache
from steelyard.collect.sampling.draw import more_units, units_of
from steelyard.collect.store.refusals import StoreError
from steelyard.collect.store.shown import screen_order
from steelyard.collect.tasks.screen import field_at, letters_in
from steelyard.errors import InvalidDataError
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs

TASK = """\
name: screens
title: How good is each?
side_by_side: true
show: [{field: input, label: Question}, {field: output, label: Text}]
widgets:
  - {id: good, kind: likert, label: "Good?", levels: [{value: 1}, {value: 2}, {value: 3}]}
  - {id: why, kind: comment, label: "Why?", when: good < 2, required: true}
scores: [{prompt: good, rule: value, from: good}]
"""
SYSTEMS = ("one", "two", "three")
WORTH = {"one": 1, "two": 2, "three": 3}


def rows(items=8, systems=SYSTEMS):
    # of every fourth item, the first two wrote the same
    return [
        {
            "item": f"i{item}",
            "system": system,
            "input": f"Question {item}?",
            "output": f"Text {'both' if item % 4 == 0 and system != 'three' else system} {item}.",
            "length": item,
        }
        for item in range(items)
        for system in systems
    ]


def start(serve, extra="", *, found=None, task=TASK, n=8, chosen=""):
    return serve(extra, rows=found or rows(), task=task, n=n, chosen=chosen)


def worth(text):
    """What a text deserves: the same for whoever wrote it."""
    return 1 if "both" in text else WORTH[text.split()[1]]


def answer_to(content):
    answer = {}
    for letter in letters_in(content):
        answer[f"{letter}-good"] = worth(content[field_at(letter)])
        if answer[f"{letter}-good"] < 2:
            answer[f"{letter}-why"] = "It is bad."
    return answer


def judge_all(rater):
    shown = []
    while (found := rater.next())["status"] == "task":
        given = found["assignment"]
        shown.append(given["content"])
        stored = rater.submit(given["id"], answer_to(given["content"]), key=f"key-{given['id']}")
        assert stored.status_code == 200, stored.text
    return shown, stored.json()


def test_ratings_of_a_screen_are_judgments_of_each_system_and_compare_pairs_them(serve):
    server = start(serve, "judgments_per_output: 2\n")
    shown, last = judge_all(server.rater("ann"))
    assert (last["done"], last["earned"]) == (8, "1.00 EUR")  # paid by screen
    assert Counter(len(letters_in(content)) for content in shown) == {3: 6, 2: 2}
    assert "secret" not in json.dumps(shown)
    judge_all(server.rater("bob"))
    table = judgments(server.store, server.campaign)
    assert table.height == 2 * 8 * 3
    assert set(table["use"]) == {"used"}
    written = {(row["item"], row["system"]): row["output"] for row in rows()}
    for row in table.iter_rows(named=True):
        assert row["score"] == worth(written[row["item"], row["system"]])
        number = int(row["item"][1:])
        assert 1 <= row["position"] <= (2 if number % 4 == 0 else 3)
    assert len(set(table.filter(item="i1", system="three")["rater"])) == 2
    same = table.filter(item="i4").pivot("system", index="submission", values="position")
    assert (same["one"] == same["two"]).all()
    placed = table.filter(item="i1").group_by("submission").agg("position")["position"]
    assert [sorted(one) for one in placed.to_list()] == [[1, 2, 3]] * 2
    # that all sixteen screens have it at one place has a chance below one in a million
    assert table.filter(system="three")["position"].n_unique() > 1
    lines = [json.loads(line) for line in _export(server, "submissions.jsonl")]
    for line in lines:
        for letter, systems in line["letters"].items():
            assert {written[line["item"], one] for one in systems} == {
                line["content"][field_at(letter)]
            }
    study = Study(read_outputs(server.campaign.outputs), read_judgments(table))
    (found,) = study.compare([])
    # means over the eight items: 1, (6 * 2 + 2 * 1) / 8 and 3
    means = {"one": 1, "two": 1.75, "three": 3}
    for pair in found.pairs:
        assert pair.difference == pytest.approx(means[pair.a] - means[pair.b], abs=0.005)
        assert pair.n_items + pair.identical_items == 8
    assert len(found.pairs) == 3
    snapshot = server.admin().get("/admin/api/snapshot").json()
    assert snapshot["progress"]["judgments"] == 16
    (prompt,) = snapshot["prompts"]
    shown = {one["system"]: one["estimate"] for one in prompt["systems"]}
    assert shown["two"] == pytest.approx(1.75, abs=0.005)


def test_an_answer_needs_every_output_and_can_be_changed(serve):
    server = start(serve, n=1, found=[row for row in rows() if row["item"] == "i1"])
    rater = server.rater()
    given = rater.next()["assignment"]
    right = answer_to(given["content"])
    for wrong, named in (
        ({name: value for name, value in right.items() if not name.startswith("B-")}, "B-good"),
        ({**right, "D-good": 1}, "D-good"),
        ({**right, "good": 1}, "good"),
        ({**right, "A-good": 9}, "A-good"),
    ):
        refused = rater.submit(given["id"], wrong)
        assert refused.status_code == 422
        assert [one["widget"] for one in refused.json()["error"]["problems"]] == [named], wrong
    part = {"assignment": given["id"], "answer": {"B-good": 3}, "active_ms": 5}
    assert rater.send("/api/draft", part, method="PUT").status_code == 200
    again = rater.next()["assignment"]
    assert (again["content"], again["draft"]) == (given["content"], {"B-good": 3})
    assert rater.submit(given["id"], right).status_code == 200


def test_the_last_screen_is_changed_in_the_order_in_which_it_was_shown(serve):
    server = start(serve)
    rater = server.rater()
    given = rater.next()["assignment"]
    before = answer_to(given["content"])
    rater.submit(given["id"], before)
    last = rater.send("/api/last", {}).json()["assignment"]
    assert (last["content"], last["draft"]) == (given["content"], before)
    changed = {f"{letter}-good": 3 for letter in letters_in(given["content"])}
    body = {"assignment": given["id"], "key": "key-00000002", "answer": changed, "active_ms": 9}
    assert rater.send("/api/correct", body).status_code == 200
    assert set(judgments(server.store, server.campaign, rows="all")["score"]) == {3}
    (line,) = [json.loads(line) for line in _export(server, "submissions.jsonl")]
    assert line["earlier"][0]["answer"] == before


def test_whoever_runs_it_sees_who_wrote_what_and_where_raters_differ(serve):
    server = start(serve, "judgments_per_output: 2\n", n=4)
    judge_all(server.rater("ann"))
    other = server.rater("bob")
    content = other.next()["assignment"]["content"]
    other.judge({f"{letter}-good": 3 for letter in letters_in(content)})
    found = server.store.read(
        lambda one: answers_of(one, server.campaign, work=RaterWorkCache(server.campaign)(one))
    )
    newest = found["answers"][0]
    named = {text["label"]: text["shown"][0][2] for text in newest["texts"]}
    assert any(label.startswith("A (") for label in named)
    for label, text in named.items():
        if label[1:3] == " (":
            assert text.split()[1] in {"both", *label[3:-1].split(", ")}
    assert newest["distance"] == 1.0  # 3 against the 1 that the other gave to the same text
    assert {one["question"][:3] for one in newest["answers"]} <= {"A: ", "B: ", "C: "}


def test_each_order_is_as_likely_as_any_other():
    orders = Counter(screen_order(str(lease), 3) for lease in range(6000))
    assert len(orders) == 6
    assert all(abs(count - 1000) < 4 * 29 for count in orders.values())


def test_a_draw_of_screens_is_extended_with_whole_screens(serve):
    server = start(serve, n=4)
    drawn = [target for unit in units_of(server.campaign) for target in unit.targets]
    larger = more_units(server.campaign, drawn, 2)
    assert len(larger) == 6
    assert {target.probability for unit in larger for target in unit.targets} == {6 / 8}


@pytest.mark.parametrize(
    ("extra", "change", "message"),
    [
        ("documents: {column: input}\n", {}, "documents: does not go with a task side by side"),
        ("goal: {decide: best, prompts: [good]}\n", {}, "goal.decide: does not go with"),
        ("", {"chosen": ", same_items: false"}, "sample.same_items: must be true"),
        ("", {"chosen": ", systems: [one]"}, "must hold 2 to 6 systems"),
        ("", {"found": rows(systems="abcdefg")}, "it holds 7: name those to show"),
        ("", {"task": TASK.replace("title:", "pair: true\ntitle:")}, "side_by_side: does not go"),
        (
            "",
            {"task": TASK.replace("comment", "post-edit, field: output")},
            "post-edit is not asked",
        ),
        (
            "",
            {"task": TASK.replace("field: output", "field: length")},
            "must show the field output",
        ),
        (
            "",
            {"found": [row | {"input": row["system"]} for row in rows()]},
            "because a screen shows it once",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_at_the_start(serve, extra, change, message):
    with pytest.raises(InvalidDataError) as error:
        start(serve, extra, **change)
    assert message in str(error.value).replace("`", "").replace("'", "")
    assert "\n" not in str(error.value)


def test_a_database_is_bound_to_the_screens(serve):
    start(serve)
    with pytest.raises(StoreError):
        start(serve, task=TASK.replace("side_by_side: true\n", ""))


def _export(server, name):
    return export(name, server.store, server.campaign).body.decode().splitlines()
