import pytest

from steelyard.errors import InvalidDataError
from steelyard.foreign import Options
from steelyard.foreign.gathered import Gathered


def test_a_metric_whose_name_is_taken_keeps_the_tools_name_before_it():
    gathered = Gathered("tool", Options())
    gathered.output("a", "s", "x", metrics={"score": 1, "time": 2, "bleu": 3})
    found = gathered.conversion(way_out="")
    assert found.outputs.columns == ["item", "system", "output", "tool.score", "tool.time", "bleu"]


def test_a_fact_never_passes_for_a_metric():
    gathered = Gathered("tool", Options())
    gathered.output("a", "s", "x", metrics={"bleu": 1}, slices={"year": 2026, "bleu": "high"})
    row = gathered.conversion(way_out="").outputs.row(0, named=True)
    assert (row["year"], row["bleu"], row["tool.bleu"]) == ("2026", 1.0, "high")


def test_missing_scores_are_missing_and_never_zero():
    gathered = Gathered("tool", Options())
    for rater, score in enumerate([None, float("nan"), "N/A", " ", 0, False]):
        gathered.judgment("a", "s", f"r{rater}", "p", score)
    found = gathered.conversion(way_out="")
    assert found.judgments["score"].to_list() == [0.0, 0.0]
    assert found.remarks == ("left out: 4 judgments without a score",)


def test_ids_become_text_and_broken_letters_are_replaced():
    gathered = Gathered("tool", Options())
    gathered.output(7.0, 10**60, "half \ud800 a pair")
    row = gathered.conversion(way_out="").outputs.row(0, named=True)
    assert row["item"] == "7"
    assert row["system"] == "1" + "0" * 60
    assert row["output"] == "half ? a pair"


def test_nothing_found_says_why():
    gathered = Gathered("tool", Options())
    gathered.output(None, "s", "x")
    with pytest.raises(
        InvalidDataError, match=r"left out: 1 outputs without an item .*--column item=KEY"
    ):
        gathered.conversion(way_out="")
