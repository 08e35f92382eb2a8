import json

import pytest

from steelyard.collect.tasks import grade_gold, load_task, read_gold
from steelyard.errors import InvalidDataError

ROW = {
    "input": "how deep is it",
    "output": "9 metres",
    "passages": ["It is 9 metres deep.", "It is wide."],
    "answer": {
        "plausible": "yes",
        "verdicts": [{"verdict": "right", "quotes": ["9 metres"]}, {"verdict": ["neither"]}],
    },
    "source": "our own",
}


@pytest.fixture(scope="module")
def task():
    return load_task("answer-correctness")


def write(folder, *rows):
    path = folder / "gold.jsonl"
    path.write_text("\n\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_gold_has_the_fields_of_the_task_and_what_is_accepted(tmp_path, task):
    (item,) = read_gold(write(tmp_path, ROW), task)
    assert list(item.content) == ["input", "output", "passages"]
    assert item.accepted == ROW["answer"]


def test_an_answer_must_meet_every_known_one(tmp_path, task):
    (item,) = read_gold(write(tmp_path, ROW), task)
    right = {"verdict": "right", "highlights": [[6, 14]], "confirmed": True}
    good = {"sense": "yes", "plausible": "yes", "verdicts": [right, {"verdict": "neither"}]}
    assert grade_gold(task, item.content, item.accepted, good)
    assert not grade_gold(task, item.content, item.accepted, good | {"plausible": "no"})
    wrong = [{**right, "verdict": "wrong"}, {"verdict": "neither"}]
    assert not grade_gold(task, item.content, item.accepted, good | {"verdicts": wrong})
    assert not grade_gold(task, item.content, item.accepted, {"sense": "no"})
    assert not grade_gold(task, item.content, item.accepted, [good])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"output": None}, "gold.jsonl, line 3: `output` must be given"),
        ({"passages": "x"}, "gold.jsonl, line 3: `passages` must be a list of texts"),
        ({"answer": None}, "line 3: `answer` must name at least one widget .* got nothing"),
        ({"answer": {}}, "line 3: `answer` must name at least one widget"),
        (
            {"answer": {"plausibel": "no"}},
            "line 3: plausibel is no widget; did you mean `plausible`",
        ),
        (
            {"answer": {"plausible": ["yes", "perhaps"]}},
            r"line 3, key answer.plausible\[1\]: 'perhaps' is not an answer to plausible",
        ),
        ({"answer": {"verdicts": []}}, "line 3, key answer.verdicts: must have an entry for each"),
    ],
)
def test_a_mistake_is_named_by_file_and_line(tmp_path, task, changed, message):
    with pytest.raises(InvalidDataError, match=message):
        read_gold(write(tmp_path, ROW, ROW | changed), task)


def test_a_file_without_gold_is_refused(tmp_path, task):
    path = tmp_path / "gold.jsonl"
    path.write_text("\n")
    with pytest.raises(InvalidDataError, match="must hold at least one gold item"):
        read_gold(path, task)
    path.write_text("{]")
    with pytest.raises(InvalidDataError, match=r"gold.jsonl, line 1: is not JSON"):
        read_gold(path, task)
    path.write_text("[1]")
    with pytest.raises(InvalidDataError, match=r"line 1: must be an object of texts; got a list"):
        read_gold(path, task)
    with pytest.raises(InvalidDataError, match="cannot be read"):
        read_gold(tmp_path / "none.jsonl", task)
