import math

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from steelyard.errors import InvalidArgumentError
from steelyard.metrics import score


def agrees_with_sacrebleu(outputs, references, *, options="", several=False, **arguments):
    name = f"bleu:{options}" if options else "bleu"
    ours = score(outputs, references, metrics=[name])[name]
    peer = BLEU(**({"effective_order": True} | arguments))
    theirs = [
        peer.sentence_score(output, reference if several else [reference]).score / 100
        for output, reference in zip(outputs, references, strict=True)
    ]
    np.testing.assert_allclose(ours, theirs, atol=1e-12, rtol=0)


def test_matches_a_hand_worked_example():
    # precisions 3/4, 2/3, 1/2 and, halved once for want of a match, 1/2 of 1/1; lengths 4 and 5
    got = score(["the cat sat down"], ["the cat sat here now"], metrics=["bleu"])["bleu"]
    product = (3 / 4) * (2 / 3) * (1 / 2) * (1 / 2)
    assert got == pytest.approx([math.exp(1 - 5 / 4) * product ** (1 / 4)])


def test_equals_sacrebleu_on_unrelated_texts(random_pairs):
    agrees_with_sacrebleu(*random_pairs)


def test_equals_sacrebleu_on_related_texts(close_pairs):
    agrees_with_sacrebleu(*close_pairs)


def test_equals_sacrebleu_on_real_answers(answers):
    agrees_with_sacrebleu(*answers[:2])


def test_equals_sacrebleu_on_texts_of_ten_thousand_words(long_pair):
    agrees_with_sacrebleu([long_pair[0]], [long_pair[1]])


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ("none", {"smooth_method": "none"}),
        ("floor", {"smooth_method": "floor"}),
        ("smooth=floor,smooth-value=0.3", {"smooth_method": "floor", "smooth_value": 0.3}),
        ("add-k", {"smooth_method": "add-k"}),
        ("add-k,smooth-value=0.5", {"smooth_method": "add-k", "smooth_value": 0.5}),
        ("order=1", {"max_ngram_order": 1}),
        ("order=2", {"max_ngram_order": 2}),
        ("order=3,effective-order=no", {"max_ngram_order": 3, "effective_order": False}),
        ("add-k,effective-order=no", {"smooth_method": "add-k", "effective_order": False}),
        ("effective-order=no", {"effective_order": False}),
        ("lowercase", {"lowercase": True}),
        ("zh", {"tokenize": "zh"}),
        ("tokenize=intl", {"tokenize": "intl"}),
        ("char", {"tokenize": "char"}),
        ("untokenized", {"tokenize": "none"}),
    ],
)
def test_every_option_means_what_it_means_in_sacrebleu(
    random_pairs, close_pairs, options, arguments, caplog
):
    caplog.set_level("ERROR", logger="sacrebleu")
    outputs = random_pairs[0][:150] + close_pairs[0][:150]
    references = random_pairs[1][:150] + close_pairs[1][:150]
    agrees_with_sacrebleu(outputs, references, options=options, **arguments)


def test_several_references_are_taken_jointly_as_in_sacrebleu(close_pairs):
    outputs, texts = close_pairs
    references = [[texts[i], outputs[i - 1], texts[i - 2]][: 1 + i % 3] for i in range(300)]
    agrees_with_sacrebleu(outputs[:300], references, several=True)


def test_best_and_mean_are_over_single_references():
    output, references = "the cat sat there", ["the cat sat here", "a dog sat there", "no"]
    single = score([output] * 3, references, metrics=["bleu"])["bleu"]
    columns = score([output], [references], metrics=["bleu:best", "bleu:mean"])
    assert columns["bleu:best"] == pytest.approx([single.max()])
    assert columns["bleu:mean"] == pytest.approx([single.mean()])


@pytest.mark.parametrize("order", [0, 5])
def test_refuses_an_order_that_is_not_1_to_4(order):
    with pytest.raises(InvalidArgumentError, match="`order` must be between 1 and 4"):
        score(["a"], ["a"], metrics=[f"bleu:order={order}"])


def test_refuses_a_negative_constant():
    with pytest.raises(InvalidArgumentError, match="`smooth_value` must not be negative; got -1"):
        score(["a"], ["a"], metrics=["bleu:floor,smooth-value=-1"])
