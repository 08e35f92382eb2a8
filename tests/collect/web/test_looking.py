"""Looking at the work: answers with texts, who gave them, and what they are to be paid."""

import csv
import io
import json

import pytest

TASK = """\
name: tiny
title: How good is this text?
show: [{field: output, label: Text}]
widgets:
  - {id: fluency, kind: likert, label: "Fluent?", levels: [{value: 0, label: Bad}, {value: 1, label: Fair}, {value: 2, label: Good}]}
  - {id: remark, kind: comment, label: Anything else?}
scores:
  - {prompt: fluency, rule: value, from: fluency}
"""
HOSTILE = "=1+1 <img src=x onerror=alert(1)>"


@pytest.fixture
def judged(serve):
    """Three raters have judged the same six texts; one always differs, and one comments once."""
    server = serve("judgments_per_output: 3\n", outputs=6, task=TASK)
    for name, value in (("ann", 2), ("bob", 2), ("cid", 0)):
        rater = server.rater(name)
        for place in range(6):
            said = {"remark": HOSTILE} if (name, place) == ("bob", 0) else {}
            rater.judge({"fluency": value} | said)
    return server


def look(server, query=""):
    found = server.admin().get(f"/admin/api/answers?{query}")
    assert found.status_code == 200, found.text
    return found.json()


def table(server, name):
    found = server.admin().get(f"/admin/export/{name}")
    assert found.status_code == 200
    return list(csv.DictReader(io.StringIO(found.text)))


def test_an_answer_stands_beside_its_text_its_rater_and_the_decisions(judged):
    found = look(judged)
    assert found["total"] == 18
    newest = found["answers"][0]
    assert newest["texts"][0]["label"] == "Text"
    assert newest["texts"][0]["shown"][0][2].startswith("Text number")
    assert newest["answers"] == [{"question": "Fluent?", "answer": "Bad"}]
    assert newest["systems"][0].startswith("secret-system")
    rater = found["raters"][str(newest["rater"])]
    assert (rater["panel_id"], rater["estimate"]["verdict"]) == ("cid", "include")
    assert rater["payment"]["verdict"] == "pay"


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("rater=2", 6),
        ("rater=9", 0),
        ("item=i0", 6),
        ("item=i0&rater=1", 2),
        ("show=comment", 1),
        ("show=disagreement", 18),
        ("show=gold-missed", 0),
        ("show=excluded", 0),
        ("offset=17", 18),
    ],
)
def test_answers_are_found_by_rater_item_and_mark(judged, query, total):
    found = look(judged, query)
    assert found["total"] == total
    assert len(found["answers"]) == (1 if "offset" in query else total)


def test_a_rater_who_differs_from_all_others_lies_far_from_them(judged):
    found = {one["rater"]: one["distance"] for one in look(judged)["answers"]}
    # 2, 2 and 0 on a scale of 2: from the mean of the others 1/2, 1/2 and 1
    assert found == {1: 0.5, 2: 0.5, 3: 1.0}


def test_an_excluded_rater_is_found_as_such(judged):
    admin = judged.admin()
    rater = look(judged, "rater=3")["raters"]["3"]["id"]
    decision = {"rater": rater, "about": "estimate", "verdict": "exclude", "reason": "always Bad"}
    assert admin.send("/admin/api/decisions", decision).status_code == 200
    assert {one["rater"] for one in look(judged, "show=excluded")["answers"]} == {3}


def test_the_page_is_for_the_administrator_alone(judged):
    assert judged.rater("ann").get("/admin/answers").status_code == 401
    assert judged.rater("ann").get("/admin/api/answers").status_code == 401
    assert "Answers" in judged.admin().get("/admin/answers").text
    assert judged.admin().get("/admin/api/answers?show=everything").status_code == 422


def test_comments_are_a_table_in_which_nothing_is_computed(judged):
    (row,) = table(judged, "comments.csv")
    assert row["comment"] == f"'{HOSTILE}"
    assert (row["rater"], row["question"]) == ("rater-2", "Anything else?")


def test_payments_are_one_row_a_rater_without_those_who_are_not_to_be_paid(judged):
    assert table(judged, "payments.csv") == [
        {"PID": name, "amount": "0.75"} for name in ("ann", "bob", "cid")
    ]
    admin = judged.admin()
    raters = look(judged)["raters"]
    for number, about, verdict in (("1", "payment", "refuse"), ("3", "estimate", "exclude")):
        decision = {
            "rater": raters[number]["id"],
            "about": about,
            "verdict": verdict,
            "reason": "so",
        }
        assert admin.send("/admin/api/decisions", decision).status_code == 200
    assert [row["PID"] for row in table(judged, "payments.csv")] == ["bob"]
    # who is left out is paid once somebody decides so
    paid = {"rater": raters["3"]["id"], "about": "payment", "verdict": "pay", "reason": "honest"}
    assert admin.send("/admin/api/decisions", paid).status_code == 200
    assert [row["PID"] for row in table(judged, "payments.csv")] == ["bob", "cid"]


def test_an_answer_that_was_changed_is_shown_with_the_one_before(serve):
    server = serve(outputs=6, task=TASK)
    rater = server.rater("ann")
    rater.judge({"fluency": 0})
    rater.judge({"fluency": 2})
    held = rater.send("/api/last", {}).json()["assignment"]["id"]
    body = {"assignment": held, "key": "key-changed", "active_ms": 1}
    sent = rater.send("/api/correct", body | {"answer": {"fluency": 1, "remark": "Better so."}})
    assert sent.status_code == 200, sent.text
    newest, first = look(server)["answers"]
    assert newest["answers"][0]["answer"] == "Fair"
    assert newest["earlier"] == [[{"question": "Fluent?", "answer": "Good"}]]
    assert first["earlier"] == []


def test_who_knows_the_answer_to_gold_is_not_far_from_those_who_miss_it(serve, tmp_path):
    row = {"output": "Choose Bad.", "answer": {"fluency": [0]}}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row))
    server = serve("gold: {file: gold.jsonl, every: 2}\n", outputs=6, task=TASK)
    for name, value in (("ann", 0), ("bob", 2), ("cid", 2)):
        rater = server.rater(name)
        for _ in range(2):
            rater.judge({"fluency": value})
    gold = [one for one in look(server)["answers"] if one["gold"]]
    assert {one["rater"]: one["missed"] for one in gold} == {1: False, 2: True, 3: True}
    assert [one["far"] for one in gold] == [False] * 3
    assert look(server, "show=disagreement")["total"] == 0


def test_a_page_of_answers_reads_no_more_than_it_shows(serve, monkeypatch):
    from steelyard.collect.dashboard import answers

    server = serve("judgments_per_output: 3\n", outputs=24, task=TASK)
    for name in ("ann", "bob", "cid"):
        rater = server.rater(name)
        for _ in range(24):
            rater.judge({"fluency": 2 if name == "ann" else 0})
            server.clock.forward(seconds=1)
    read, whole = [], answers.submission_rows
    monkeypatch.setattr(
        answers, "submission_rows", lambda *a, **k: read.append(whole(*a, **k)) or read[-1]
    )
    for query in ("", "offset=50", "show=disagreement", "show=comment", "rater=2"):
        assert look(server, query)["page"] == 25
    assert max(map(len, read)) == 25
    assert look(server, "show=disagreement")["total"] == 24 * 3


def test_how_raters_work_is_computed_once_for_rules_page_and_answers(serve, monkeypatch):
    from steelyard.collect.policy import rater_work as module

    server = serve("quality: {active_seconds: 0.1}\n", task=TASK)
    counted, compute = [], module.rater_work
    monkeypatch.setattr(module, "rater_work", lambda *a: counted.append(a) or compute(*a))
    server.rater().judge({"fluency": 2})
    admin = server.admin()
    assert admin.get("/admin/api/snapshot").status_code == 200
    assert admin.get("/admin/api/answers").status_code == 200
    assert len(counted) == 1
