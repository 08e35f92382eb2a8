"""A campaign's questions put to a language model: metric columns, never judgments."""

import json
import zlib

import polars as pl
import pytest

from steelyard.collect.config.new_campaign import copy_example


@pytest.fixture
def asked(run, server, tmp_path):
    def call(folder, *options):
        place = ["--endpoint", server.base, "--model", "org/m"]
        target = tmp_path / "judged.jsonl"
        named = ["--rubric", folder / "campaign.yaml", "-o", target]
        return *run("judge", folder / "outputs.jsonl", *place, *named, *options), target

    return call


def quality(text):
    return zlib.crc32(text.encode()) % 3 + 1


def test_a_campaigns_questions_become_metrics_that_diagnose_weighs(asked, run, server, tmp_path):
    folder = copy_example("language-quality", tmp_path / "c").parent

    def reply(body, _):
        asked_about = body["messages"][-1]["content"]
        text = asked_about.split("<output>\n")[1].split("\n</output>")[0]
        # sure of fluency, and of nothing else
        return server.say(str(quality(text) if "fluent English" in asked_about else 2))

    server.play = reply
    code, out, err, target = asked(folder)
    assert code == 0
    assert err == "steelyard: campaign.yaml: Edit is not asked: its answer is an edited text\n"
    names = [f"judge.org/m.{prompt}" for prompt in ("fluency", "redundancy", "overall")]
    assert [name in out for name in names] == [True] * 3
    found = pl.read_ndjson(target)
    assert [
        name for name in found.columns if name.startswith("judge.") and "reason" not in name
    ] == names
    assert found[names[0]].to_list() == [quality(text) for text in found["output"]]
    assert "Judge how they are\nwritten" in server.bodies[0]["messages"][0]["content"]
    judgments = tmp_path / "judgments.jsonl"
    rows = [
        {"item": one["item"], "system": one["system"], "rater": f"r{n % 6}", "prompt": "fluency"}
        | {"score": min(3, max(1, quality(one["output"]) + (n % 5 == 0)))}
        for n, one in enumerate(found.iter_rows(named=True))
        if n % 3
    ]
    judgments.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = run("diagnose", target, judgments, "--metric", names[0], "--json")
    assert code == 0
    weighed = json.loads(out)
    assert names[0] in json.dumps(weighed)


def test_a_campaign_without_a_number_or_word_to_ask_for_is_refused(asked, server, tmp_path):
    folder = copy_example("answer-correctness", tmp_path / "c").parent
    code, _, err, _ = asked(folder)
    assert (code, err.count("\n")) == (2, 1)
    assert (
        "asks nothing that one number or word answers: AnyCorrect is not asked: it is asked only"
        in err
    )
    assert server.requests == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "c/outputs.jsonl"], "which is never written over"),
        (["-o", "c/campaign.yaml"], "which is never written over"),
        (["--cache", "c/campaign.sqlite"], "campaign.sqlite"),
        (
            ["--rubric", "fluency"],
            "with different names, which their columns get; got fluency, redundancy",
        ),
    ],
)
def test_nothing_of_a_campaign_is_written_over_or_taken_for_another(
    asked, server, tmp_path, options, message
):
    folder = copy_example("language-quality", tmp_path / "c").parent
    (folder / "campaign.sqlite").write_bytes(b"judgments of people")
    options = [tmp_path / one if one.startswith("c/") else one for one in options]
    code, _, err, _ = asked(folder, *options)
    assert (code, message in err) == (2, True), err
    assert (folder / "campaign.sqlite").read_bytes() == b"judgments of people"
    assert server.requests == 0
