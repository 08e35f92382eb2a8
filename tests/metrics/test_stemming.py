import numpy as np
import pytest
from nltk.stem.porter import PorterStemmer

from steelyard.metrics.stemming import porter_stem

_LIST = (
    "ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness "
    "fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance "
    "ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize e ll ed ing s es ies "
    "ied eed y sses at bl iz yy"
)
SUFFIXES = _LIST.split()


@pytest.mark.parametrize(
    ("word", "stem"),
    # the examples of Porter's article
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("cats", "cat"),
        ("feed", "feed"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happy", "happi"),
        ("vietnamization", "vietnam"),
        ("triplicate", "triplic"),
        ("adjustment", "adjust"),
        ("roll", "roll"),
        ("rate", "rate"),
    ],
)
def test_stems_the_examples_of_the_article(word, stem):
    assert porter_stem(word) == stem


def test_equals_nltk_on_words_made_of_all_suffixes():
    rng = np.random.default_rng(1980)
    peer = PorterStemmer()
    letters = list("aeiouybcdlstxzé1")
    for _ in range(20_000):
        stem = "".join(rng.choice(letters, size=rng.integers(0, 6)))
        word = stem + "".join(rng.choice(SUFFIXES, size=rng.integers(0, 3)))
        assert porter_stem(word) == peer.stem(word), word


@pytest.mark.parametrize("word", ["dying", "skies", "NEWS", "died", "ties", "is", "", "succeed"])
def test_equals_nltk_on_exceptions(word):
    assert porter_stem(word) == PorterStemmer().stem(word)
