"""Documents: all segments of one go to one rater, in order, with what came before."""

import json
from itertools import pairwise

import pytest

import steelyard as sy
from steelyard.cli import main
from steelyard.collect.dashboard.exports import export, judgments
from steelyard.collect.sampling.draw import more_units, units_of
from steelyard.collect.web.limits import Limits
from steelyard.errors import InvalidDataError

FAST = Limits(requests_per_second=1000)
SIZES = {"north": 3, "south": 2, "west": 4, "east": 1}
KEYS = "documents: {column: document, order: position}\n"
TASK = """\
name: small
title: A small task
show: [{field: output, label: Text}]
widgets: [{id: quality, kind: slider, label: How good?}]
scores: [{prompt: quality, rule: value, from: quality}]
"""
GOOD = {"quality": 90}


def segments(systems=("one", "two"), **change):
    """Rows of documents, the segments of each in the wrong order in the file."""
    rows = [
        {
            "item": f"{document}-{number}",
            "system": system,
            "document": document,
            "position": number,
            "output": f"{system} wrote {document} {number}.",
            "length": number,
        }
        for document, size in SIZES.items()
        for number in range(size, 0, -1)
        for system in systems
    ]
    return [row | change.get(row["item"], {}) for row in rows]


@pytest.fixture
def documents(serve):
    def start(extra="", *, n=4, rows=None):
        return serve(
            KEYS + extra,
            limits=Limits(requests_per_second=1000),
            rows=rows or segments(),
            n=n,
            task=TASK,
        )

    return start


def shown(given):
    """Which segment of which document and system an assignment shows."""
    system, _, document, number = given["content"]["output"].rstrip(".").split()
    return system, document, int(number)


def judge_all(rater, answer=None):
    """Judge until nothing is left; return what was shown."""
    seen = []
    while (found := rater.next())["status"] == "task":
        given = found["assignment"]
        seen.append(shown(given))
        assert given["content"]["_segment"] == [seen[-1][2], SIZES[seen[-1][1]]]
        before = [text["output"][0][2] for text in given["shown"]["_earlier"]]
        system, document, number = seen[-1]
        assert before == [f"{system} wrote {document} {place}." for place in range(1, number)]
        stored = rater.submit(
            given["id"], answer(given) if answer else GOOD, key=f"key-{given['id']}"
        )
        assert stored.status_code == 200, stored.text
    return seen


def by_document(seen):
    found = {}
    for system, document, number in seen:
        found.setdefault((system, document), []).append(number)
    return found


def test_a_rater_gets_a_document_whole_and_in_order(documents):
    seen = judge_all(documents().rater())
    assert by_document(seen) == {
        (system, document): list(range(1, size + 1))
        for system in ("one", "two")
        for document, size in SIZES.items()
    }
    # one document after the other
    assert sum(now[:2] != before[:2] for before, now in pairwise(seen)) == 7


def test_two_raters_at_once_never_share_a_document(documents):
    server = documents()
    raters = [server.rater(name) for name in ("ann", "bob")]
    owners = {}
    at_work = [True, True]
    while any(at_work):
        for number, rater in enumerate(raters):
            found = rater.next()
            at_work[number] = found["status"] == "task"
            if at_work[number]:
                system, document, _ = shown(found["assignment"])
                assert owners.setdefault((system, document), number) == number
                rater.judge(GOOD)
    assert set(owners.values()) == {0, 1}


def test_what_a_rater_leaves_undone_goes_to_another_from_the_first_segment_left(documents, clock):
    server = documents(rows=segments(systems=("one",)))
    ann, bob = server.rater("ann"), server.rater("bob")
    while True:
        given = ann.next()["assignment"]
        _, document, number = shown(given)
        if SIZES[document] > 2 and number == 2:
            break
        ann.judge(GOOD)
    left = document
    assert left not in {document for _, document, _ in judge_all(bob)}
    assert bob.next()["status"] == "wait"
    clock.forward(minutes=31)
    assert [number for _, document, number in judge_all(bob) if document == left] == list(
        range(2, SIZES[left] + 1)
    )


def test_a_visit_goes_on_to_the_end_of_a_document(documents):
    rater = documents("session: {judgments: 1}\n", rows=segments(systems=("one",))).rater()
    seen = judge_all(rater)
    ((_, document), numbers), *more = by_document(seen).items()
    assert not more
    assert numbers == list(range(1, SIZES[document] + 1))
    assert rater.next()["reason"] == "session-complete"


def test_a_segment_that_is_handed_back_does_not_hold_up_the_others(documents):
    server = documents(rows=segments(systems=("one",)))
    ann = server.rater("ann")
    while SIZES[shown(given := ann.next()["assignment"])[1]] < 3:
        ann.judge(GOOD)
    body = {"assignment": given["id"], "kind": "problem", "reason": "no text"}
    assert ann.send("/api/hand-back", body).status_code == 200
    assert shown(ann.next()["assignment"])[1:] == (shown(given)[1], shown(given)[2] + 1)
    judge_all(ann)
    assert [one[1:] for one in judge_all(server.rater("bob"))] == [shown(given)[1:]]


def test_gold_comes_between_documents_not_within_them(documents, tmp_path):
    gold = [
        {"output": f"one wrote gold {number}.", "answer": {"quality": 90}} for number in range(9)
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    rater = documents("gold: {file: gold.jsonl, every: 3}\n").rater()
    seen = []
    while (found := rater.next())["status"] == "task":
        content = found["assignment"]["content"]
        assert {"_segment", "_earlier"} <= content.keys()
        seen.append(None if "gold" in content["output"] else content["_segment"])
        rater.judge(GOOD)
    assert seen.count(None) >= 4
    for before, now in pairwise(seen):
        if now is None and before is not None:
            assert before[0] == before[1]


def test_judgments_name_the_document_and_only_whole_documents_enter(documents, tmp_path, capsys):
    server = documents(rows=segments(systems=("one",)))
    rater = server.rater()
    scores = iter([20, 40, 90, 30, 60, 80, 50, 10, 70, 100])
    while rater.next()["status"] == "task":
        rater.judge({"quality": next(scores)})
        used = judgments(server.store, server.campaign)
        for document in set(used["cluster"]):
            assert used.filter(used["cluster"] == document).height == SIZES[document]
    assert used.height == 10
    body = export("judgments.jsonl", server.store, server.campaign).body
    (tmp_path / "judgments.jsonl").write_bytes(body)
    files = [str(tmp_path / name) for name in ("outputs.jsonl", "judgments.jsonl")]
    with pytest.raises(SystemExit) as end:
        main(["estimate", *files, "--metric", "none", "--json"])
    assert end.value.code == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert one["n_outputs"] == 10
    study = sy.Study(sy.read_outputs(files[0]), sy.read_judgments(used))
    (same,) = study.estimate([])
    assert one["high"] - one["low"] == pytest.approx(same.high - same.low)
    (apart,) = sy.Study(
        sy.read_outputs(files[0]), sy.read_judgments(used.drop("cluster"))
    ).estimate([])
    assert one["high"] - one["low"] != pytest.approx(apart.high - apart.low)


def test_the_live_page_counts_documents_as_estimate_does(documents):
    server = documents(n=3)
    judge_all(server.rater(), lambda given: {"quality": 10 * shown(given)[2]})
    snapshot = server.admin().get("/admin/api/snapshot").json()
    used = sy.read_judgments(judgments(server.store, server.campaign))
    study = sy.Study(sy.read_outputs(server.campaign.outputs), used)
    for one in study.estimate(server.campaign.metrics):
        (seen,) = [
            each for each in snapshot["prompts"][0]["systems"] if each["system"] == one.system
        ]
        assert seen["estimate"] == pytest.approx(one.estimate)
        # the live page may be looked at all the time
        assert seen["low"] < one.low < one.high < seen["high"]


def test_a_document_that_two_systems_wrote_alike_is_judged_once(documents):
    rows = [
        row | {"output": row["output"].replace("two", "one")} if row["document"] == "west" else row
        for row in segments()
    ]
    server = documents(rows=rows)
    seen = by_document(judge_all(server.rater()))
    assert ("two", "west") not in seen
    judged = judgments(server.store, server.campaign)
    assert set(judged.filter(judged["cluster"] == "west")["system"]) == {"one", "two"}


@pytest.mark.parametrize(
    ("extra", "rows", "message"),
    [
        (
            "",
            {"west-2": {"document": None}},
            r"column document: item 'west-2' of system 'one' has none",
        ),
        ("", {"west-2": {"position": "x"}}, "column position: .*expected a number"),
        ("second_judgments: 1\n", {}, "second_judgments: does not go with documents"),
        ("goal: {decide: best}\n", {}, "goal.decide: does not go with documents"),
    ],
)
def test_mistakes_are_named_in_one_line(documents, extra, rows, message):
    with pytest.raises(InvalidDataError, match=message) as found:
        documents(extra, rows=segments(**rows))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("same_items", [True, False])
def test_a_draw_of_documents_is_extended_by_whole_documents(serve, same_items):
    chosen = f", same_items: {str(same_items).lower()}"
    server = serve(KEYS, limits=FAST, rows=segments(), n=2, task=TASK, chosen=chosen)
    rater, admin = server.rater(), server.admin()
    before = by_document(judge_all(rater))
    assert len(before) == 4
    old = {(row["item"], row["system"]): row["draw"] for row in rows_of(server)}
    assert admin.send("/admin/api/outputs", {"more": 1}).status_code == 200
    added = by_document(judge_all(rater))
    assert len(added) == 2
    assert not added.keys() & before.keys()
    for (_, document), numbers in added.items():
        assert numbers == list(range(1, SIZES[document] + 1))
    found = rows_of(server)
    assert {row["use"] for row in found} == {"used"}
    assert {row["probability"] for row in found} == {3 / 4}
    # what was there keeps its place, and what is new comes behind it, without a gap
    new = {(row["item"], row["system"]): row["draw"] for row in found}
    assert {key: new[key] for key in old} == old
    for system in ("one", "two"):
        numbers = sorted(draw for (_, writer), draw in new.items() if writer == system)
        assert numbers == list(range(1, len(numbers) + 1))
    refused = admin.send("/admin/api/outputs", {"more": 2})
    assert "must not exceed the 1 documents that the draw has left" in refused.text
    assert admin.send("/admin/api/outputs", {"more": 1}).status_code == 200
    assert len(by_document(judge_all(rater))) == 2
    assert {row["probability"] for row in rows_of(server)} == {1.0}


def test_every_document_has_the_same_chance_in_a_draw_that_was_extended(serve):
    server = serve(KEYS, limits=FAST, rows=segments(), n=1, task=TASK)
    counts = dict.fromkeys(SIZES, 0)
    for seed in range(100):
        campaign = server.campaign.model_copy(
            update={"sample": server.campaign.sample.model_copy(update={"seed": seed})}
        )
        drawn = [target for unit in units_of(campaign) for target in unit.targets]
        larger = more_units(campaign, drawn, 1)
        for document in {unit.targets[0].cluster for unit in larger}:
            counts[document] += 1
    # two of four: 50 each; four standard deviations are 20
    assert all(abs(count - 50) < 20 for count in counts.values()), counts


def rows_of(server):
    return list(judgments(server.store, server.campaign).iter_rows(named=True))
