import numpy as np
import pytest
from nltk.translate.meteor_score import meteor_score

from steelyard.metrics import score
from steelyard.metrics.tokenizers import UnicodeTokenizer, WordTokenizer

TOKENIZERS = {"words": WordTokenizer(), "unicode": UnicodeTokenizer()}


class NoSynonyms:
    def synsets(self, _word):
        return []


def agrees_with_nltk(outputs, references, *, tokens="words"):
    name = f"meteor:{tokens}"
    split = TOKENIZERS[tokens].tokens
    expected = [
        meteor_score([split(reference)], split(output), wordnet=NoSynonyms())
        for output, reference in zip(outputs, references, strict=True)
    ]
    got = score(outputs, references, metrics=[name])[name]
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


def test_matches_a_hand_worked_example():
    # "cat sat" is one chunk, "mats" and "mat" share a stem and are another: 3 of 4 and 3 of 5 words
    precision, recall, chunks, matches = 3 / 4, 3 / 5, 2, 3
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    expected = mean * (1 - 0.5 * (chunks / matches) ** 3)
    got = score(["my cat sat mats"], ["the cat sat on mat"], metrics=["meteor"])
    assert got["meteor"] == pytest.approx([expected])


@pytest.mark.parametrize("tokens", TOKENIZERS)
@pytest.mark.parametrize("pairs", ["random_pairs", "close_pairs"])
def test_equals_nltk_by_words_and_stems(pairs, tokens, request):
    agrees_with_nltk(*request.getfixturevalue(pairs), tokens=tokens)


def test_equals_nltk_on_real_answers(answers):
    agrees_with_nltk(*answers[:2])


def test_equals_nltk_on_texts_of_ten_thousand_words(long_pair):
    agrees_with_nltk([long_pair[0]], [long_pair[1]])


def test_the_best_reference_counts_as_in_nltk():
    output, references = "the cat sat", ["a cat", "the cats sat down", ""]
    expected = meteor_score(
        [text.split() for text in references], output.split(), wordnet=NoSynonyms()
    )
    assert score([output], [references], metrics=["meteor"])["meteor"] == pytest.approx([expected])


@pytest.mark.parametrize(("output", "reference"), [("", ""), ("a", ""), ("", "a"), ("a", "b")])
def test_texts_without_a_match_score_0(output, reference):
    assert score([output], [reference], metrics=["meteor"])["meteor"] == [0.0]
