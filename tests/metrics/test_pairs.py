from steelyard.metrics.pairs import Pairs
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


def test_tokens_are_made_once():
    pairs = Pairs(["a"], [["b"]])
    assert pairs.tokens(RougeTokenizer()) is pairs.tokens(RougeTokenizer())
    assert pairs.tokens(RougeTokenizer()) is not pairs.tokens(WhitespaceTokenizer())


def test_characters_may_leave_out_whitespace_and_case():
    pairs = Pairs(["A b\u3000c"], [["é"]])
    assert pairs.characters().symbols == ["A b\u3000c", "é"]
    assert pairs.characters(lowercase=True, whitespace=False).symbols == ["abc", "é"]
