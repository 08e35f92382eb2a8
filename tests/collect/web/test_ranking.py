"""Outputs of several systems put in order: from the page to the comparison."""

import json
from itertools import combinations

import pytest

from steelyard.cli import main
from steelyard.collect.dashboard.answers import answers_of
from steelyard.collect.dashboard.exports import export, judgments
from steelyard.collect.policy.rater_work import RaterWorkCache
from steelyard.collect.sampling.draw import more_units, units_of
from steelyard.collect.tasks.screen import field_at, letters_in
from steelyard.errors import InvalidDataError
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs

TASK = """\
name: orders
title: Which is better?
side_by_side: true
show: [{field: input, label: Question}, {field: output, label: Text}]
widgets:
  - {id: order, kind: ranking, label: Put them in order}
  - {id: why, kind: comment, label: "Why?", once: true}
scores: [{prompt: better, rule: rank, from: order}]
"""
RATED = TASK.replace(
    "widgets:\n",
    "widgets:\n  - {id: good, kind: likert, label: Good, levels: [{value: 1}, {value: 2}]}\n",
).replace("from: order}]", "from: order}, {prompt: good, rule: value, from: good}]")
SYSTEMS = ("one", "two", "three")
# what each text deserves: "two" and "three" are alike to everybody
PLACE = {"one": 1, "two": 2, "three": 2, "both": 1}


def rows(items=8):
    # of every fourth item the first two wrote the same, and of item 5 all three
    def text(item, system):
        if item == 5:
            return "Text both 5."
        return f"Text {'both' if item % 4 == 0 and system != 'three' else system} {item}."

    return [
        {
            "item": f"i{item}",
            "system": system,
            "input": f"Question {item}?",
            "output": text(item, system),
            "length": item + len(system),
        }
        for item in range(items)
        for system in SYSTEMS
    ]


def start(serve, extra="", *, task=TASK, n=7, found=None, chosen=""):
    return serve(extra, rows=found or rows(), task=task, n=n, chosen=chosen)


def order_of(content):
    return {letter: PLACE[content[field_at(letter)].split()[1]] for letter in letters_in(content)}


def judge_all(rater, answer=lambda content: {"order": order_of(content)}):
    shown = []
    while (found := rater.next())["status"] == "task":
        given = found["assignment"]
        shown.append(given["content"])
        stored = rater.submit(given["id"], answer(given["content"]), key=f"key-{given['id']}")
        assert stored.status_code == 200, stored.text
    return shown


def test_an_order_is_what_it_says_about_every_two_systems_and_compare_reads_it(serve):
    server = start(serve, "judgments_per_output: 2\n")
    shown = judge_all(server.rater("ann"))
    # item 5 has nothing to rank: the seven others are all there is to draw
    assert len(shown) == 7
    assert all(len(letters_in(content)) >= 2 for content in shown)
    judge_all(server.rater("bob"))
    table = judgments(server.store, server.campaign)
    # five items of three texts with three pairs, two of two texts with two pairs; both ways, two raters
    assert table.height == 2 * 2 * (5 * 3 + 2 * 2)
    assert set(table["use"]) == {"used"}
    scores = {
        (row["item"], row["system"], row["other_system"]): row["score"]
        for row in table.iter_rows(named=True)
    }
    assert (scores["i1", "one", "two"], scores["i1", "two", "one"]) == (1.0, 0.0)
    assert scores["i1", "two", "three"] == scores["i1", "three", "two"] == 0.5
    assert ("i4", "one", "two") not in scores
    assert scores["i4", "two", "three"] == 1.0
    for row in table.iter_rows(named=True):
        both = (row["system"], row["other_system"])
        assert row["first_system"] in both
    assert 0 < (table["first_system"] == table["system"]).mean() < 1
    study = Study(read_outputs(server.campaign.outputs), read_judgments(table))
    pairs = {
        pair: study.compare([], pair=pair)[0].pairs[0]
        for pair in (("one", "two"), ("one", "three"), ("two", "three"))
    }
    # by hand, over the eight items: one wins on 5 and ties on 3 with two; wins on 7 and ties on 1 with three;
    # two beats three where it wrote what one wrote, on 2
    assert pairs["one", "two"].win.value == pytest.approx(5 / 8)
    assert pairs["one", "two"].identical_items == 3
    assert pairs["one", "three"].difference == pytest.approx(7 / 8)
    assert pairs["two", "three"].win.value == pytest.approx(2 / 8)
    assert pairs["two", "three"].tie.value == pytest.approx(6 / 8)


def test_the_dashboard_shows_the_share_of_the_others_that_stand_behind(serve):
    server = start(serve, "judgments_per_output: 2\n")
    for name in ("ann", "bob"):
        judge_all(server.rater(name))
    snapshot = server.admin().get("/admin/api/snapshot").json()
    (prompt,) = snapshot["prompts"]
    means = {one["system"]: one["estimate"] for one in prompt["systems"]}
    # over the seven items that can be ranked: on five 1, 1/4, 1/4; on two 3/4, 3/4, 0; the model moderates a little
    assert means["one"] == pytest.approx((5 + 2 * 0.75) / 7, abs=5e-3)
    assert means["two"] == pytest.approx((5 * 0.25 + 2 * 0.75) / 7, abs=5e-3)
    assert means["three"] == pytest.approx(5 * 0.25 / 7, abs=5e-3)
    assert prompt["bounds"] == [0.0, 1.0]
    assert "one" in prompt["answer"]
    found = server.store.read(
        lambda one: answers_of(one, server.campaign, work=RaterWorkCache(server.campaign)(one))
    )
    (said,) = [
        one["answers"] for one in found["answers"] if one["item"] == "i1" and one["rater"] == 1
    ]
    assert said[0]["answer"].split(", then ")[1].endswith(" alike")
    assert "other_system" in export("codebook.md", server.store, server.campaign).body.decode()


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_the_command_line_compares_what_was_downloaded(serve, tmp_path, capsys, kind):
    server = start(serve, "judgments_per_output: 2\n")
    for name in ("ann", "bob"):
        judge_all(server.rater(name))
    file = tmp_path / f"judgments.{kind}"
    file.write_bytes(server.admin().get(f"/admin/export/{file.name}").content)
    with pytest.raises(SystemExit) as stop:
        main(["compare", str(server.campaign.outputs), str(file), "--json"])
    assert stop.value.code == 0
    (found,) = json.loads(capsys.readouterr().out)
    wins = {(one["a"], one["b"]): one["win"]["value"] for one in found["pairs"]}
    wins |= {(one["b"], one["a"]): one["loss"]["value"] for one in found["pairs"]}
    assert wins["one", "two"] == pytest.approx(5 / 8)
    assert wins["two", "three"] == pytest.approx(2 / 8)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        [],
        "A",
        1,
        {"A": 1, "B": 2},
        {"A": 1, "B": 2, "C": 3, "D": 3},
        {"A": 1, "B": 2, "C": 4},
        {"A": 1, "B": 2, "C": 0},
        {"A": 1, "B": 2, "C": True},
        {"A": 1, "B": 2, "C": 2.0},
        {"A": 1, "B": 2, "C": "3"},
        {"A": 1, "B": 2, "C": None},
    ],
)
def test_what_is_no_order_is_refused(serve, wrong):
    server = start(serve, n=1, found=[row for row in rows() if row["item"] == "i1"])
    rater = server.rater()
    given = rater.next()["assignment"]
    refused = rater.submit(given["id"], {"order": wrong})
    assert refused.status_code == 422
    assert [one["widget"] for one in refused.json()["error"]["problems"]] == ["order"]
    assert rater.submit(given["id"], {"order": {"A": 3, "B": 1, "C": 1}}).status_code == 200


def test_ties_are_refused_where_the_task_does_not_want_them(serve):
    task = TASK.replace("kind: ranking,", "kind: ranking, ties: false,")
    server = start(serve, task=task, n=1, found=[row for row in rows() if row["item"] == "i1"])
    rater = server.rater()
    given = rater.next()["assignment"]
    refused = rater.submit(given["id"], {"order": {"A": 3, "B": 1, "C": 1}})
    assert refused.json()["error"]["problems"][0]["message"] == "Give each of them another place."
    assert rater.submit(given["id"], {"order": {"A": 3, "B": 1, "C": 2}}).status_code == 200


def test_an_order_beside_ratings_is_over_all_items(serve):
    server = start(serve, task=RATED, n=8)

    def answer(content):
        letters = letters_in(content)
        order = {"order": order_of(content)} if len(letters) > 1 else {}
        return order | {
            f"{letter}-good": 1 + (PLACE[content[field_at(letter)].split()[1]] < 2)
            for letter in letters
        }

    shown = judge_all(server.rater(), answer)
    assert sorted(len(letters_in(content)) for content in shown) == [1, 2, 2, 3, 3, 3, 3, 3]
    table = judgments(server.store, server.campaign)
    assert table.filter(prompt="good").height == 8 * 3
    assert table.filter(prompt="good")["other_system"].null_count() == 8 * 3
    assert table.filter(prompt="better", item="i5").is_empty()
    study = Study(read_outputs(server.campaign.outputs), read_judgments(table))
    assert {one.prompt for one in study.compare([])} == {"better", "good"}
    assert {one.prompt for one in study.estimate([])} == {"good"}
    snapshot = server.admin().get("/admin/api/snapshot").json()
    (prompt,) = [one for one in snapshot["prompts"] if one["prompt"] == "better"]
    means = {one["system"]: one["estimate"] for one in prompt["systems"]}
    # item 5, on which all wrote the same, is a tie of all
    assert means["one"] == pytest.approx((5 + 2 * 0.75 + 0.5) / 8, abs=5e-3)


def test_who_gives_the_same_order_again_and_again_is_left_out(serve):
    alike = [row for row in rows() if row["item"] not in {"i0", "i4"}]
    server = start(serve, "quality: {same_answers: 5}\n", found=alike, n=5)
    lazy = server.rater()
    for _ in range(5):
        lazy.judge({"order": {"A": 1, "B": 2, "C": 3}})
    assert lazy.next()["reason"] == "excluded"


def test_a_draw_of_orders_is_extended_by_what_can_be_ranked(serve):
    server = start(serve, n=4)
    drawn = [target for unit in units_of(server.campaign) for target in unit.targets]
    assert {target.probability for target in drawn} == {4 / 7}
    larger = more_units(server.campaign, drawn, 3)
    assert len(larger) == 7
    assert "i5" not in {unit.item for unit in larger}


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (TASK.replace("side_by_side: true\n", ""), "widgets[0].kind: is about a whole screen"),
        (
            TASK.replace("ranking, label", "likert, levels: [{value: 1}, {value: 2}], label")
            .replace("rule: rank", "rule: value")
            .replace("side_by_side: true\n", ""),
            "widgets[1].once: is about a whole screen",
        ),
        (TASK.replace("rule: rank", "rule: value"), "expected rank"),
        (TASK.replace("once: true", "once: false, when: order answered"), "widgets[1].when"),
        (TASK.replace("from: order", "from: order, of: A"), "has no meaning for the rule rank"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused(serve, task, message):
    with pytest.raises(InvalidDataError) as error:
        start(serve, task=task)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_systems_that_always_write_the_same_cannot_be_ranked(serve):
    alike = [row | {"output": "The same."} for row in rows()]
    with pytest.raises(InvalidDataError, match="has nothing to rank"):
        units_of(start(serve, found=alike).campaign)


def test_the_shares_of_a_screen_add_to_half_of_its_systems(serve):
    server = start(serve)
    judge_all(server.rater())
    lines = export("submissions.jsonl", server.store, server.campaign).body.decode().splitlines()
    for line in map(json.loads, lines):
        scores = [one["better"] for one in line["scores"].values()]
        # over texts; every two of them share one point
        count = len(list(combinations(scores, 2)))
        assert sum(scores) * (len(scores) - 1) == pytest.approx(count)


TUTORIAL = """\
tutorial:
  pass: 1
  tries: 2
  questions:
    - id: off-topic
      content: {input: "What time is it?", output A: "Blue.", output B: "It is ten.", output C: "Ten."}
      ask: order
      answer: {A: 2, B: 1}
      hint: Which is no answer?
      feedback: A colour is no time.
"""


def test_a_tutorial_may_ask_for_an_order(serve):
    rater = start(serve, task=TASK + TUTORIAL).rater()
    assert rater.next()["status"] == "tutorial"
    asked = {"question": "q1", "answer": {"A": 1, "B": 2, "C": 3}}
    found = rater.send("/api/tutorial", asked).json()
    assert (found["correct"], found["hint"]) == (False, "Which is no answer?")
    asked = {"question": "q1", "answer": {"A": 3, "B": 2, "C": 1}}
    assert rater.send("/api/tutorial", asked).json()["correct"]
    assert rater.next()["status"] == "task"


def test_what_is_right_is_told_after_the_last_try_and_where_it_stands_is_free(serve):
    server = start(serve, task=TASK + TUTORIAL)
    wrong, right = server.rater("ann"), server.rater("bob")
    for _ in range(2):
        found = wrong.send("/api/tutorial", {"question": "q1", "answer": {"A": 1, "B": 1, "C": 1}})
    assert found.json()["feedback"] == "A colour is no time."
    # nothing is known of C
    answer = {"A": 2, "B": 1, "C": 1}
    assert right.send("/api/tutorial", {"question": "q1", "answer": answer}).json()["correct"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("[A, B]", "answer: must name letters that are shown"),
        ("{A: 1, D: 2}", "answer: must name letters that are shown"),
        ("{A: 1, B: 0}", "answer.B: must be a whole number from 1"),
        ("{A: 1, B: 1}", "answer: must have two different numbers"),
    ],
)
def test_an_order_that_cannot_be_missed_is_a_mistake(serve, answer, message):
    with pytest.raises(InvalidDataError) as error:
        start(serve, task=TASK + TUTORIAL.replace("{A: 2, B: 1}", answer))
    assert message in str(error.value)
