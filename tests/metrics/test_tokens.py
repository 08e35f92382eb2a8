import numpy as np

from steelyard.metrics.pieces import tokenized
from steelyard.metrics.tokenizers import RougeTokenizer
from steelyard.metrics.tokens import Numbering, Tokens, characters


def test_symbols_are_one_character_per_token():
    tokens = tokenized(["b a b", "a a"], RougeTokenizer())
    one, other = tokens.symbols
    assert len(one) == 3
    assert one[0] == one[2] != one[1] == other[0] == other[1]


def test_symbols_cover_surrogates_and_vocabularies_beyond_unicode():
    ids = np.array([0xD800, 0xDFFF, 0xD800])
    few = Tokens(ids=ids, start=np.array([0, 3]), size=0x110000)
    assert few.symbols == ["\ud800\udfff\ud800"]
    many = Tokens(ids=np.array([0x110000, 1]), start=np.array([0, 1, 2]), size=0x110001)
    assert many.symbols == [[0x110000], [1]]


def test_tokens_can_be_replaced_by_their_parts():
    words = Numbering().tokens([["ab", "c"], [], ["c", ""]])
    letters = words.expanded(Numbering().tokens(words.vocabulary))
    assert "".join(letters.vocabulary[number] for number in letters.ids) == "abcc"
    assert letters.start.tolist() == [0, 3, 3, 4]


def test_nothing_has_no_tokens():
    for tokens in (Numbering().tokens([]), tokenized([], RougeTokenizer()), characters([])):
        assert tokens.ids.tolist() == []
        assert tokens.start.tolist() == [0]
        assert tokens.symbols == []
