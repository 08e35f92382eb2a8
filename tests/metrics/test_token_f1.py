import re
import string
from collections import Counter

import numpy as np
import pytest

from steelyard.metrics import score


def answer_words(text):
    """Normalise an answer by the rules that the SQuAD evaluation publishes."""
    text = "".join(character for character in text.lower() if character not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def f1(output, reference):
    a, b = answer_words(output), answer_words(reference)
    if not a or not b:
        return float(a == b)
    shared = sum((Counter(a) & Counter(b)).values())
    return 2 * shared / (len(a) + len(b))


def test_matches_a_hand_worked_example():
    # "cat sat" against "cat sat there": both words found, two of three
    columns = score(
        ["The cat, sat!"],
        ["a cat sat there"],
        metrics=["token-f1", "token-f1:precision", "token-f1:recall"],
    )
    assert columns["token-f1"] == pytest.approx([4 / 5])
    assert columns["token-f1:precision"] == [1.0]
    assert columns["token-f1:recall"] == pytest.approx([2 / 3])


@pytest.mark.parametrize("pairs", ["random_pairs", "close_pairs"])
def test_equals_the_published_rules(pairs, request):
    outputs, references = request.getfixturevalue(pairs)
    expected = [f1(o, r) for o, r in zip(outputs, references, strict=True)]
    got = score(outputs, references, metrics=["token-f1"])["token-f1"]
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("output", "reference", "value"),
    [("", "", 1), ("the", "a.", 1), ("", "cat", 0), ("cat", "the", 0)],
)
def test_texts_without_words_have_defined_values(output, reference, value):
    assert score([output], [reference], metrics=["token-f1"])["token-f1"] == [value]


def test_unicode_words_are_split_without_spaces():
    got = score(["我喜欢猫"], ["我喜欢狗"], metrics=["token-f1", "token-f1:unicode"])
    assert got["token-f1"] == [0.0]
    assert got["token-f1:unicode"] == pytest.approx([3 / 4])
