import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.metrics.tokenizers import RougeTokenizer
from steelyard.metrics.tokens import Lexicon, Numbering, Tokens, characters


def test_symbols_are_one_character_per_token():
    tokens = Lexicon.of(RougeTokenizer()).tokens(["b a b", "a a"])
    one, other = tokens.symbols
    assert len(one) == 3
    assert one[0] == one[2] != one[1] == other[0] == other[1]


def test_symbols_cover_surrogates_and_vocabularies_beyond_unicode():
    ids = np.array([0xD800, 0xDFFF, 0xD800])
    few = Tokens(ids=ids, start=np.array([0, 3]), size=0x110000)
    assert few.symbols == ["\ud800\udfff\ud800"]
    many = Tokens(ids=np.array([0x110000, 1]), start=np.array([0, 1, 2]), size=0x110001)
    assert many.symbols == [[0x110000], [1]]


@settings(deadline=None)
@given(st.lists(st.text("aB .é1\n", max_size=12), max_size=5))
def test_texts_are_split_as_the_tokenizer_splits_each_alone(texts):
    tokenizer = RougeTokenizer()
    tokens = Lexicon.of(tokenizer).tokens(texts)
    words = [tokens.vocabulary[number] for number in tokens.ids]
    assert [words[a:b] for a, b in zip(tokens.start, tokens.start[1:], strict=False)] == [
        tokenizer.tokens(text) for text in texts
    ]


def test_tokens_can_be_replaced_by_their_parts():
    words = Numbering().tokens([["ab", "c"], [], ["c", ""]])
    letters = words.expanded(Numbering().tokens(words.vocabulary))
    assert "".join(letters.vocabulary[number] for number in letters.ids) == "abcc"
    assert letters.start.tolist() == [0, 3, 3, 4]


def test_nothing_has_no_tokens():
    for tokens in (Numbering().tokens([]), Lexicon.of(RougeTokenizer()).tokens([]), characters([])):
        assert tokens.ids.tolist() == []
        assert tokens.start.tolist() == [0]
        assert tokens.symbols == []


def test_a_lexicon_numbers_a_word_the_same_in_every_batch():
    lexicon = Lexicon.of(RougeTokenizer())
    first = lexicon.tokens(["a cat's", "dog"])
    second = lexicon.tokens(["dog, cat", "new", ""])
    assert [first.vocabulary[number] for number in first.ids] == ["a", "cat", "s", "dog"]
    assert [second.vocabulary[number] for number in second.ids] == ["dog", "cat", "new"]
    assert second.start.tolist() == [0, 2, 3, 3]
    assert first.ids[3] == second.ids[0]
