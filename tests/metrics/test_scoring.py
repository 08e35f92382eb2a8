import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InvalidArgumentError
from steelyard.metrics import Metric, Pairs, available, score
from steelyard.metrics import scoring as scoring_module
from steelyard.metrics.registry import metric
from steelyard.metrics.rouge import Rouge1

NAMES = [name for name in available() if name != "vecsim" and not metric(name).libraries]


@dataclass(frozen=True, kw_only=True)
class Counted(Metric):
    """Counts how many examples it was asked for."""

    def scores(self, pairs: Pairs):
        return np.full(pairs.n_examples, float(pairs.n_examples))


def test_columns_are_aligned_floats_named_as_asked():
    columns = score(["a b", "c", "a"], ["a b", "d", ["x", "a"]], metrics=["rouge-1", "edit"])
    assert list(columns) == ["rouge-1", "edit"]
    assert columns["rouge-1"].dtype == np.float64
    assert columns["rouge-1"].tolist() == [1.0, 0.0, 1.0]
    assert columns["edit"].tolist() == [0.0, 1.0, 0.0]


def test_equal_examples_are_scored_once():
    got = score(["a", "b", "a", "a"], ["x", "x", ["x"], ["x", "y"]], metrics={"n": Counted()})
    assert got["n"].tolist() == [3.0] * 4


def test_no_outputs_give_empty_columns():
    assert {
        name: column.shape for name, column in score([], [], metrics=NAMES).items()
    } == dict.fromkeys(NAMES, (0,))


def test_a_mapping_names_the_columns_and_takes_metric_objects():
    got = score(
        ["a b"], ["a"], metrics={"mine": Rouge1(statistic="recall"), "its": "rouge-1:recall"}
    )
    assert list(got) == ["mine", "its"]
    assert got["mine"] == got["its"] == [1.0]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text("ab .é中", max_size=12),
            st.lists(st.text("ab .é中", max_size=12), min_size=1, max_size=3),
        ),
        min_size=1,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_and_grouping_of_rows_change_nothing(rows, random):
    outputs, references = map(list, zip(*rows, strict=True))
    together = score(outputs, references, metrics=NAMES)
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = score([outputs[i] for i in order], [references[i] for i in order], metrics=NAMES)
    for name in NAMES:
        np.testing.assert_array_equal(shuffled[name], together[name][order])
        alone = [score([o], [r], metrics=[name])[name][0] for o, r in rows]
        np.testing.assert_array_equal(alone, together[name])


def test_batches_change_nothing(close_pairs, monkeypatch):
    outputs, texts = close_pairs[0][:60], close_pairs[1][:60]
    references = [[text, texts[i - 1]] for i, text in enumerate(texts)]
    whole = score(outputs, references, metrics=NAMES)
    monkeypatch.setattr(scoring_module, "_BATCH", 1000)
    parts = score(outputs, references, metrics=NAMES)
    for name in NAMES:
        np.testing.assert_array_equal(parts[name], whole[name])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], ["a", "b"], ["edit"]), "one entry for each output; got 2 for 1 outputs"),
        (
            (["a", None], ["a", "b"], ["edit"]),
            "`outputs` must hold texts; got a NoneType at position 1",
        ),
        ((["a"], [[]], ["edit"]), r"`references` must hold .* got \[\] at position 0"),
        ((["a"], [["a", 1]], ["edit"]), r"`references` must hold .* got \['a', 1\] at position 0"),
        ((["a"], [None], ["edit"]), "`references` must hold .* got None at position 0"),
        (("a", ["a"], ["edit"]), "`outputs` must be a list of texts; got a single text"),
        ((["a"], "a", ["edit"]), "`references` must be a list of texts; got a single text"),
        ((["a"], ["a"], "edit"), r"got the single string 'edit': write \['edit'\]"),
        ((["a"], ["a"], []), "`metrics` must name at least one metric; got none"),
        ((["a"], ["a"], [3]), "`metrics` must hold names or metrics; got a int for 3"),
    ],
)
def test_says_what_is_wrong_with_its_arguments(arguments, message):
    outputs, references, metrics = arguments
    with pytest.raises(InvalidArgumentError, match=message):
        score(outputs, references, metrics=metrics)


def test_every_metric_reads_any_string():
    strange = [
        "\ud800",
        "\x00",
        "\u202e abc",
        "a\u0300\u0301",
        "\U0010ffff",
        "\r\n\x85\u2028",
        "<s></s>",
    ]
    outputs = [one for one in strange for _ in strange]
    for name, column in score(outputs, strange * len(strange), metrics=[*NAMES, "vecsim"]).items():
        assert np.isfinite(column).all(), name


def test_references_may_be_any_collection_of_texts():
    references = [("a", "b"), np.array(["a", "b"]), iter(["a", "b"])]
    assert score(["b"] * 3, references, metrics=["edit"])["edit"].tolist() == [0.0] * 3


def test_more_distinct_words_than_a_16_bit_character_has_values():
    text = " ".join(map(str, range(70_000)))
    columns = score([text], [text + " 1"], metrics=["rouge-1", "rouge-2", "rouge-l", "edit"])
    for column in columns.values():
        assert 0 < min(column[0], 1 - column[0]) < 1e-4


def test_importing_the_package_loads_no_metric_library():
    code = "import sys, steelyard.metrics; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"sacrebleu", "wordllama", "rapidfuzz", "tokenizers", "scipy"} & set(loaded)
