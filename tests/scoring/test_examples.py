from dataclasses import dataclass

import numpy as np
import pytest

from steelyard.errors import InvalidDataError
from steelyard.metrics import Metric
from steelyard.metrics import scoring as metric_scoring
from steelyard.scoring.examples import example, scored


def made(output, reference, *, is_text=True):
    return example(
        output, reference, columns=("answer", "gold"), place=lambda: "o, line 7", is_text=is_text
    )


@pytest.mark.parametrize(
    ("output", "reference", "wanted"),
    [
        ("a", "b", ("a", ("b",))),
        ("", "", ("", ("",))),
        (7, 1.5, ("7", ("1.5",))),
        (True, ["b", None, 3], ("true", ("b", "3"))),
        ("a", '["b", "c"]', ("a", ("b", "c"))),
        ("a", "[1, 2]", ("a", ("[1, 2]",))),
        ("a", "[sic]", ("a", ("[sic]",))),
    ],
)
def test_cells_become_texts(output, reference, wanted):
    assert made(output, reference) == wanted


def test_only_text_files_hold_lists_as_json():
    assert made("a", '["b", "c"]', is_text=False) == ("a", ('["b", "c"]',))


@pytest.mark.parametrize("output", [None, [], {}, ["a"]])
def test_an_output_must_be_text(output):
    with pytest.raises(InvalidDataError, match=r"o, line 7, column answer: expected text, got "):
        made(output, "b")


@pytest.mark.parametrize("reference", [None, [], [None], {}, [["a"]], "[]"])
def test_there_must_be_a_reference(reference):
    with pytest.raises(InvalidDataError, match=r"o, line 7, column gold: expected a text or a li"):
        made("a", reference)


def test_equal_examples_count_once():
    columns, distinct, problems = scored(
        [("a", ("b",)), ("a", ("b",)), ("a", ("a", "b"))], metrics=["exact-match"], place=str
    )
    assert columns["exact-match"].tolist() == [0.0, 0.0, 1.0]
    assert (distinct, problems) == (2, {})


def test_a_metric_without_a_value_is_named(monkeypatch):
    @dataclass(frozen=True, kw_only=True)
    class Broken(Metric):
        def scores(self, pairs):
            return np.where(np.arange(pairs.n_examples) == 1, np.nan, 0.0)

    monkeypatch.setattr(metric_scoring, "metric", lambda _: Broken())
    examples = [("a", ("b",)), ("b", ("b",))]
    _, _, problems = scored(examples, metrics=["broken"], place=lambda n: f"row {n}")
    assert problems == {1: "row 1: broken gives nan on this output"}
