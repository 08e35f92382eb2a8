import numpy as np

from steelyard.metrics.pairs import Pairs, Tokens
from steelyard.metrics.tokenizers import RougeTokenizer, WhitespaceTokenizer


def test_equal_tokens_are_equal_integers_whatever_text_they_are_in():
    pairs = Pairs(["The cat's hat", ""], [["a hat"], ["the"]])
    tokens = pairs.tokens(RougeTokenizer())
    assert pairs.texts == ["The cat's hat", "a hat", "", "the"]
    assert tokens.length.tolist() == [4, 2, 0, 1]
    assert [tokens.vocabulary[number] for number in tokens.ids] == [
        *("the", "cat", "s", "hat"),
        *("a", "hat"),
        "the",
    ]


def test_symbols_are_one_character_per_token():
    tokens = Pairs(["b a b"], [["a a"]]).tokens(RougeTokenizer())
    one, other = tokens.symbols
    assert len(one) == 3
    assert one[0] == one[2] != one[1] == other[0] == other[1]


def test_symbols_cover_surrogates_and_vocabularies_beyond_unicode():
    ids = np.array([0xD800, 0xDFFF, 0xD800])
    few = Tokens(ids=ids, start=np.array([0, 3]), vocabulary=(), size=0x110000)
    assert few.symbols == ["\ud800\udfff\ud800"]
    many = Tokens(
        ids=np.array([0x110000, 1]), start=np.array([0, 1, 2]), vocabulary=(), size=0x110001
    )
    assert many.symbols == [[0x110000], [1]]


def test_tokens_are_made_once():
    pairs = Pairs(["a"], [["b"]])
    assert pairs.tokens(RougeTokenizer()) is pairs.tokens(RougeTokenizer())
    assert pairs.tokens(RougeTokenizer()) is not pairs.tokens(WhitespaceTokenizer())


def test_characters_may_leave_out_whitespace_and_case():
    pairs = Pairs(["A b\u3000c"], [["é"]])
    assert pairs.characters().symbols == ["A b\u3000c", "é"]
    assert pairs.characters(lowercase=True, whitespace=False).symbols == ["abc", "é"]
