import json
import shutil
from pathlib import Path

import pytest

from steelyard.errors import InvalidDataError

FOLDER = Path(__file__).parent / "files" / "mt-metrics-eval" / "wmt99"


def test_lines_are_items_and_documents_are_clusters(convert):
    found = convert("mt-metrics-eval/wmt99")
    assert found.format == "mt-metrics-eval"
    assert found.outputs["1", "alpha"] == {
        "item": "1",
        "system": "alpha",
        "output": "Eins!",
        "input": "One.",
        "reference": ["Eins."],
        "cluster": "doc1",
        "BLEU-refA": 0.5,
        "domain": "news",
    }
    assert found.outputs["2", "alpha"]["BLEU-refA"] is None
    assert "left out: 1 references that appear as a system (refA)" in found.remarks


def test_ratings_have_raters_and_take_the_place_of_their_means(convert):
    found = convert("mt-metrics-eval/wmt99")
    assert found.scores == {
        ("1", "alpha", "rater1", "mqm"): -1.0,
        ("1", "beta", "rater1", "mqm"): -5.0,
        ("2", "beta", "rater2", "mqm"): 0.0,
        ("1", "alpha", "wmt-z", "wmt-z"): 0.25,
        ("2", "alpha", "wmt-z", "wmt-z"): 0.75,
        ("1", "beta", "wmt-z", "wmt-z"): -1.0,
    }
    assert "en-de.wmt-z.seg.score has one score per output and no raters" in found.remarks


def test_errors_count_as_much_as_the_file_says(convert, tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "wmt")
    errors = [{"severity": "minor", "score": 0}, {"severity": "major", "score": 2.5}]
    rating = json.dumps({"errors": errors})
    ratings = folder / "human-scores" / "en-de.mqm.seg.rating"
    ratings.write_text(f"alpha\t{rating}\trater1\nalpha\tNone\tNone\n")
    scores = folder / "human-scores" / "en-de.mqm.seg.score"
    scores.write_text("alpha\t-2.5\nalpha\tNone\n")
    found = convert(folder)
    assert found.scores["1", "alpha", "rater1", "mqm"] == -2.5
    assert "errors without a score" not in found.remarks
    assert "is not the score" not in found.remarks
    scores.write_text("alpha\t-3\nalpha\tNone\n")
    assert (
        "on 1 of 1 segments the mean of the ratings is not the score in" in convert(folder).remarks
    )


def test_counted_edits_are_lower_for_better_outputs(convert, tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "wmt")
    (folder / "human-scores" / "en-de.hter.seg.score").write_text("alpha\t0.1\nalpha\t0.4\n")
    rows = {row["prompt"]: row for row in convert(folder).judgments}
    assert rows["hter"]["lower_is_better"]
    assert rows["mqm"]["lower_is_better"] is None


def test_one_of_several_language_pairs_is_chosen(convert, tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "wmt")
    shutil.copytree(folder / "system-outputs" / "en-de", folder / "system-outputs" / "en-cs")
    with pytest.raises(InvalidDataError, match="en-cs, en-de: choose one with --only pair=en-cs"):
        convert(folder)
    assert convert(folder, only={"pair": "en-de"}).scores


def test_files_that_do_not_fit_together_are_refused(convert, tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "wmt")
    scores = folder / "metric-scores" / "en-de" / "BLEU-refA.seg.score"
    scores.write_text("alpha\t1\n" * 3)
    with pytest.raises(InvalidDataError, match="line 3: more scores than segments of 'alpha'"):
        convert(folder)
    for content in ("alpha\n", "\nalpha\t1\n"):
        scores.write_text(content)
        with pytest.raises(InvalidDataError, match="line 1: expected a system and a score"):
            convert(folder)
    (folder / "system-outputs" / "en-de" / "alpha.txt").write_text("Eins!\n")
    with pytest.raises(InvalidDataError, match="1 lines, but 2 sources"):
        convert(folder)
