import shutil

import numpy as np
import pytest

from steelyard.errors import InvalidDataError
from steelyard.paper.release import read_release


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
