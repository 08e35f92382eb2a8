import json

import pytest

from steelyard.errors import InvalidDataError
from steelyard.paper.released_tables import convert
from steelyard.tables import read_judgments, read_outputs, write_table


def line(item, system, human=(0, 1), *, raters=("w1", "w2"), metric=0.5, gold=None):
    mean = sum(human) / len(human) if gold is None else gold
    prompts = {"p": {"human": list(human), "gold": mean, "bleu": metric}}
    return {"annotators": list(raters), "id": item, "prompts": prompts, "system": system}


def text(item, systems, answer):
    return {"id": item, "systems": systems, "query": f"question {item}", "answer": answer}


@pytest.fixture
def write(tmp_path):
    def write_lines(name, *lines):
        path = tmp_path / name
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        return path

    return write_lines


@pytest.fixture
def answers(write):
    """Two items; on the first, systems a and b gave the same answer."""
    judged = write(
        "qa.jsonl",
        line(1, "a"),
        line(1, "b"),
        line(1, "reference", metric=1.0),
        line(2, "a", metric=0.1),
        line(2, "b", metric=0.2),
        line(2, "reference", metric=1.0),
    )
    texts = write(
        "qa_texts.jsonl",
        text(1, ["a", "b"], "same"),
        text(1, ["reference"], "right"),
        text(2, ["a"], "one"),
        text(2, ["b"], "two"),
        text(2, ["reference"], "three"),
    )
    return judged, texts


def test_rows_come_out_in_our_form(answers, tmp_path):
    [found] = convert(answers)
    assert found.name == "qa"
    assert found.outputs.row(0, named=True) == {
        "item": "1",
        "system": "a",
        "output": "same",
        "input": "question 1",
        "reference": "right",
        "text_id": "1#1",
        "bleu": 0.5,
    }
    assert found.judgments.row(1, named=True) == {
        "item": "1",
        "system": "a",
        "rater": "w2",
        "prompt": "p",
        "score": 1.0,
    }
    for frame, name in ((found.outputs, "o.jsonl"), (found.judgments, "j.jsonl")):
        write_table(frame, tmp_path / name)
    outputs = read_outputs(tmp_path / "o.jsonl")
    assert outputs.metrics == ("bleu",)
    assert outputs.systems == ("a", "b", "reference")
    assert len(read_judgments(tmp_path / "j.jsonl")) == 12


def test_identical_answers_share_an_id_and_are_counted(answers):
    [found] = convert(answers)
    ids = dict(found.outputs.select("system", "text_id").rows()[:2])
    assert ids == {"a": "1#1", "b": "1#1"}
    assert "5 distinct outputs stand for 6: 1 were given by several systems" in found.remarks[0]
    assert "raters gave 10 a prompt, 12 are listed" in found.remarks[1]


def test_without_texts_there_are_metrics_alone(answers):
    [found] = convert(answers[:1])
    assert found.outputs.columns == ["item", "system", "bleu"]
    assert any("no texts" in remark for remark in found.remarks)


def test_an_output_judged_twice_over_is_one_output(write):
    path = write("s.jsonl", line(1, "a"), line(1, "a", (1, 1), raters=("w3", "w4")))
    [found] = convert([path])
    assert found.outputs.height == 1
    assert found.judgments["rater"].to_list() == ["w1", "w2", "w3", "w4"]
    assert any("lines 1 and 2 are the same output" in remark for remark in found.remarks)


@pytest.mark.parametrize(
    "again",
    [
        line(1, "a", raters=("w3", "w4"), metric=0.9),
        line(1, "a", raters=("w2", "w3")),
    ],
    ids=["another metric", "a rater in common"],
)
def test_another_output_of_the_same_name_gets_a_number(write, again):
    [found] = convert([write("s.jsonl", line(1, "a"), again)])
    assert found.outputs["item"].to_list() == ["1", "1 (2)"]
    assert set(found.judgments["item"]) == {"1", "1 (2)"}
    assert any("it is item '1 (2)' here" in remark for remark in found.remarks)
    read_judgments(found.judgments)


def test_items_that_lack_systems_are_told(write):
    path = write("s.jsonl", line(1, "a"), line(1, "b"), line(2, "a"), line(3, "a"))
    [found] = convert([path])
    assert "2 of 3 items have an output of a alone" in found.remarks


def test_means_that_leave_judgments_out_are_told(write):
    [found] = convert([write("s.jsonl", line(1, "a", (0, 1), gold=1.0), line(2, "a"))])
    assert any("on 1 lines they are of fewer judgments" in remark for remark in found.remarks)
    assert "gold" not in found.outputs.columns


def test_several_campaigns_each_take_their_own_texts(answers, write):
    other = write("summaries.jsonl", line("x", "c"))
    found = convert([answers[1], other, answers[0]])
    assert [one.name for one in found] == ["summaries", "qa"]
    assert "output" in found[1].outputs.columns
    assert "output" not in found[0].outputs.columns


def test_texts_of_other_outputs_are_refused(answers, write):
    stray = write("stray.jsonl", text(9, ["a"], "what"))
    with pytest.raises(InvalidDataError, match="in none of the other files"):
        convert([answers[0], stray])


def test_texts_of_some_outputs_only_are_refused(answers, write):
    part = write("part.jsonl", text(1, ["a", "b"], "same"))
    with pytest.raises(InvalidDataError, match=r"item '1' by 'reference' has judgments \(line 3\)"):
        convert([answers[0], part])
