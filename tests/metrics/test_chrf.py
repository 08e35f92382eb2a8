import numpy as np
import pytest
from sacrebleu.metrics import CHRF

from steelyard.errors import InvalidArgumentError
from steelyard.metrics import score


def agrees_with_sacrebleu(outputs, references, *, name="chrf", **arguments):
    ours = score(outputs, references, metrics=[name])[name]
    peer = CHRF(**arguments)
    theirs = [
        peer.sentence_score(o, [r] if isinstance(r, str) else r).score / 100
        for o, r in zip(outputs, references, strict=True)
    ]
    np.testing.assert_allclose(ours, theirs, atol=1e-12, rtol=0)


def test_matches_a_hand_worked_example():
    # orders 1 and 2 are all that both texts have: precision (1/2 + 0)/2, recall (1/3 + 0)/2
    precision, recall = 1 / 4, 1 / 6
    expected = 5 * precision * recall / (4 * precision + recall)
    assert score(["ab"], ["c a d"], metrics=["chrf"])["chrf"] == pytest.approx([expected])


@pytest.mark.parametrize(("name", "order"), [("chrf", 0), ("chrf++", 2)])
def test_equals_sacrebleu_on_unrelated_texts(random_pairs, name, order):
    agrees_with_sacrebleu(*random_pairs, name=name, word_order=order)


@pytest.mark.parametrize(("name", "order"), [("chrf", 0), ("chrf++", 2)])
def test_equals_sacrebleu_on_related_texts(close_pairs, name, order):
    agrees_with_sacrebleu(*close_pairs, name=name, word_order=order)


def test_equals_sacrebleu_on_real_answers(answers):
    agrees_with_sacrebleu(*answers[:2])


def test_equals_sacrebleu_on_texts_of_ten_thousand_words(long_pair):
    agrees_with_sacrebleu([long_pair[0]], [long_pair[1]])


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ("character-order=2", {"char_order": 2}),
        ("beta=1", {"beta": 1}),
        ("lowercase,word-order=1", {"lowercase": True, "word_order": 1}),
        ("whitespace", {"whitespace": True}),
    ],
)
def test_every_option_means_what_it_means_in_sacrebleu(random_pairs, options, arguments):
    outputs, references = random_pairs
    agrees_with_sacrebleu(outputs[:300], references[:300], name=f"chrf:{options}", **arguments)


def test_the_best_reference_counts_as_in_sacrebleu(close_pairs):
    outputs, texts = close_pairs
    references = [[texts[i], outputs[i - 1], texts[i - 2]] for i in range(100)]
    agrees_with_sacrebleu(outputs[:100], references)


def test_refuses_impossible_options():
    with pytest.raises(InvalidArgumentError, match="`character_order` must be at least 1"):
        score(["a"], ["a"], metrics=["chrf:character-order=0"])
    with pytest.raises(InvalidArgumentError, match="`beta` must be positive; got 0"):
        score(["a"], ["a"], metrics=["chrf:beta=0"])
