import json
import shutil

import numpy as np
import pytest

from steelyard.errors import InvalidDataError
from steelyard.paper.names import TASKS, ordered
from steelyard.paper.release import holds_texts, read_release, read_released, read_texts


def test_tasks_prompts_and_systems_are_in_the_papers_order(release):
    assert [task.name for task in release.tasks] == ["msmarco", "cnndm"]
    assert release.tasks[0].systems == ("fastqa", "fastqa_ext", "snet.single", "snet.ensemble")
    assert release.tasks[1].prompts == ("grammar", "redundancy", "overall", "hter")
    assert release.missing == ()


def test_lines_under_a_prompt_are_arrays_that_fit_together(release):
    lines = release.task("cnndm").under("overall", "ml")
    assert len(lines.human) == lines.count.sum()
    assert lines.metric_table.shape == (len(lines.human), 7)
    for row in range(len(lines.mean)):
        assert lines.mean[row] == pytest.approx(np.mean(lines.human[lines.line == row]))


def test_released_results_are_found_by_their_keys(release):
    task = release.task("msmarco")
    assert isinstance(task.released("table", "sim", "AnyCorrect", "fastqa"), float)
    assert task.released("table", "sim", "no such prompt", "fastqa") is None


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("msmarco_texts.jsonl", "table 1"),
        ("published.json", "what the authors released"),
        ("cnndm.jsonl", "all about CNN/Daily Mail is left out"),
    ],
)
def test_a_missing_file_is_told_with_what_is_left_out(directory, tmp_path, file, says):
    shutil.copytree(directory, tmp_path, dirs_exist_ok=True)
    (tmp_path / file).unlink()
    found = read_release(tmp_path)
    assert any(file in one and says in one for one in found.missing)
    assert found.task("msmarco") is not None


def test_a_directory_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidDataError, match="no such directory: name the one that holds"):
        read_release(tmp_path / "nowhere")


def test_a_directory_without_judgments_is_refused(tmp_path):
    with pytest.raises(InvalidDataError, match=r"expected msmarco\.jsonl or cnndm\.jsonl"):
        read_release(tmp_path)


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "cnndm.jsonl").write_text("")
    with pytest.raises(InvalidDataError, match="got an empty file"):
        read_release(tmp_path)


@pytest.mark.parametrize(("text", "says"), [("{", "not JSON"), ("[1]", "expected an object")])
def test_results_that_are_not_of_the_released_form_are_refused(directory, tmp_path, text, says):
    shutil.copytree(directory, tmp_path, dirs_exist_ok=True)
    (tmp_path / "published.json").write_text(text)
    with pytest.raises(InvalidDataError, match=says):
        read_release(tmp_path)


def test_unknown_names_come_last_in_their_order():
    known = TASKS["cnndm"].systems
    assert ordered(["z", "pointer", "a", "seq2seq"], known) == ("seq2seq", "pointer", "z", "a")


LINE = {
    "annotators": ["w1", "w2"],
    "id": 7,
    "system": "s",
    "prompts": {
        "p": {"human": [0, 1], "gold": 0.5, "bleu": 0.25, "sim": 1},
        "q": {"human": [0.5, 1.0], "gold": 0.75, "bleu": 0.25, "sim": 1},
    },
}
TEXT = {"id": 7, "systems": ["s", "reference"], "query": "why", "answer": "because"}


@pytest.fixture
def written(tmp_path):
    def write(*lines):
        path = tmp_path / "lines.jsonl"
        path.write_text(
            "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
        )
        return path

    return write


def without(key):
    return {name: value for name, value in LINE.items() if name != key}


def prompt(**changes):
    return LINE | {"prompts": {"p": LINE["prompts"]["p"] | changes}}


def test_a_line_of_judgments_is_read(written):
    [found] = read_released(written(LINE))
    assert (found.line, found.item, found.system, found.raters) == (1, "7", "s", ("w1", "w2"))
    assert found.human == {"p": (0.0, 1.0), "q": (0.5, 1.0)}
    assert found.gold == {"p": 0.5, "q": 0.75}
    assert found.metrics == {"bleu": 0.25, "sim": 1.0}


def test_a_line_of_texts_is_read_and_empty_lines_are_skipped(written):
    [found] = read_texts(written("", TEXT))
    assert (found.item, found.systems, found.query) == ("7", ("s", "reference"), "why")
    assert read_texts(written(TEXT | {"answer": ""}))[0].answer == ""


def test_files_are_told_apart_by_their_first_line(written):
    assert holds_texts(written(TEXT))
    assert not holds_texts(written(LINE))
    with pytest.raises(InvalidDataError, match=r"line 1: expected an object with `prompts`"):
        holds_texts(written({"cnndm": {}}))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", r"line 2: not JSON"),
        ("[]", r"line 2: expected a JSON object"),
        (without("id"), r"line 2, key id: expected the released form, got None"),
        (without("system"), r"line 2, key system"),
        (without("annotators"), r"line 2, key annotators"),
        (without("prompts"), r"line 2, key prompts"),
        (prompt(human=[1]), r"key p\.human: expected one judgment for each of 2 annotators, got 1"),
        (prompt(human=[1, None]), r"key p\.human: expected a finite number, got None"),
        (prompt(gold="high"), r"key p\.gold: expected a finite number, got 'high'"),
        (prompt(bleu=True), r"key p\.bleu: expected a finite number, got True"),
        (json.dumps(prompt(bleu=float("nan"))), r"key p\.bleu: expected a finite number, got nan"),
        (
            LINE | {"prompts": LINE["prompts"] | {"q": LINE["prompts"]["q"] | {"bleu": 0}}},
            "the metrics of an output differ between its prompts",
        ),
    ],
)
def test_a_line_of_another_form_is_named(written, line, says):
    with pytest.raises(InvalidDataError, match=says):
        read_released(written(LINE, line))


def test_a_text_without_its_answer_is_named(written):
    with pytest.raises(InvalidDataError, match=r"line 1, key answer"):
        read_texts(written({name: TEXT[name] for name in ("id", "systems", "query")}))


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(InvalidDataError, match="no such file"):
        read_released(tmp_path / "nowhere.jsonl")
    with pytest.raises(InvalidDataError, match="cannot be read"):
        read_released(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidDataError, match="cannot be read"):
        read_released(tmp_path / "binary")
