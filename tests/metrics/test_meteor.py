import numpy as np
import pytest
from nltk.translate.meteor_score import meteor_score

from steelyard.errors import InvalidArgumentError
from steelyard.metrics import score
from steelyard.metrics.tokenizers import UnicodeTokenizer, WhitespaceTokenizer, WordTokenizer

TOKENIZERS = {
    "words": WordTokenizer(),
    "whitespace": WhitespaceTokenizer(),
    "unicode": UnicodeTokenizer(),
}
# inflected and uninflected, with synonyms among them, in a few repeated words
FAMILY = (
    "car cars auto automobiles man men dog dogs hound wolf wolves box boxes chest run runs ran "
    "running go goes went moved travels buy bought purchased hop hopped jumping leaps large bigger "
    "huge vast immense good better well sound quickly rapidly the a of ."
)


class NoSynonyms:
    def synsets(self, _word):
        return []


def agrees_with_nltk(outputs, references, *, wordnet=None, place="none", tokens="words", **weights):
    options = "".join(f",{name}={value}" for name, value in weights.items())
    name = f"meteor:{tokens},wordnet={place}{options}"
    split = TOKENIZERS[tokens].tokens
    expected = [
        meteor_score([split(reference)], split(output), wordnet=wordnet or NoSynonyms(), **weights)
        for output, reference in zip(outputs, references, strict=True)
    ]
    got = score(outputs, references, metrics=[name])[name]
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


def test_matches_a_hand_worked_example():
    # "cat sat" is one chunk, "mats" and "mat" share a stem and are another: 3 of 4 and 3 of 5 words
    precision, recall, chunks, matches = 3 / 4, 3 / 5, 2, 3
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    expected = mean * (1 - 0.5 * (chunks / matches) ** 3)
    got = score(["my cat sat mats"], ["the cat sat on mat"], metrics=["meteor:wordnet=none"])
    assert got["meteor:wordnet=none"] == pytest.approx([expected])


@pytest.mark.parametrize("tokens", TOKENIZERS)
@pytest.mark.parametrize("pairs", ["random_pairs", "close_pairs"])
def test_equals_nltk_by_words_and_stems(pairs, tokens, request):
    agrees_with_nltk(*request.getfixturevalue(pairs), tokens=tokens)


def test_equals_nltk_on_real_answers(answers):
    agrees_with_nltk(*answers[:2])


def test_equals_nltk_on_texts_of_ten_thousand_words(long_pair):
    agrees_with_nltk([long_pair[0]], [long_pair[1]])


def test_equals_nltk_with_other_weights(close_pairs):
    outputs, references = close_pairs
    agrees_with_nltk(outputs[:200], references[:200], alpha=0.5, beta=1.0, gamma=0.2)


def test_equals_nltk_by_synonyms(wordnet_folder, nltk_wordnet):
    rng = np.random.default_rng(2005)
    texts = [
        " ".join(rng.choice(FAMILY.split(), size=size)) for size in rng.integers(0, 25, size=2000)
    ]
    outputs, references = texts[:1000], texts[1000:]
    agrees_with_nltk(outputs, references, wordnet=nltk_wordnet, place=str(wordnet_folder))
    # synonyms change something, or the test would say nothing
    with_synonyms, without = (
        score(outputs, references, metrics=[f"meteor:wordnet={place}"])[f"meteor:wordnet={place}"]
        for place in (wordnet_folder, "none")
    )
    assert (with_synonyms > without).mean() > 0.5


def test_equals_nltk_by_synonyms_of_a_real_wordnet(real_wordnet_folder, real_nltk_wordnet, answers):
    outputs, references, _ = answers
    place = str(real_wordnet_folder)
    agrees_with_nltk(outputs, references, wordnet=real_nltk_wordnet, place=place)
    with_synonyms, without = (
        score(outputs, references, metrics=[f"meteor:wordnet={one}"])[f"meteor:wordnet={one}"]
        for one in (place, "none")
    )
    assert (with_synonyms > without).mean() > 0.05


def test_the_best_reference_counts_as_in_nltk():
    output, references = "the cat sat", ["a cat", "the cats sat down", ""]
    expected = meteor_score(
        [text.split() for text in references], output.split(), wordnet=NoSynonyms()
    )
    got = score([output], [references], metrics=["meteor:wordnet=none"])
    assert got["meteor:wordnet=none"] == pytest.approx([expected])


def test_the_environment_may_name_a_wordnet(wordnet_folder, monkeypatch):
    monkeypatch.delenv("STEELYARD_WORDNET", raising=False)
    assert score(["dog"], ["hound"], metrics=["meteor"])["meteor"] == [0.0]
    monkeypatch.setenv("STEELYARD_WORDNET", str(wordnet_folder))
    assert score(["dog"], ["hound"], metrics=["meteor"])["meteor"] == [0.5]
    name = "meteor:wordnet=none"
    assert score(["dog"], ["hound"], metrics=[name])[name] == [0.0]


@pytest.mark.parametrize(("output", "reference"), [("", ""), ("a", ""), ("", "a"), ("a", "b")])
def test_texts_without_a_match_score_0(output, reference):
    assert score([output], [reference], metrics=["meteor"])["meteor"] == [0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("alpha=2", "`alpha` must lie between 0 and 1; got 2"),
        ("gamma=-1", "`gamma` must lie between 0 and 1; got -1"),
        ("beta=-1", "`beta` must not be negative; got -1"),
    ],
)
def test_refuses_impossible_weights(options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        score(["a"], ["a"], metrics=[f"meteor:{options}"])
