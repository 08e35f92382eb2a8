import pytest
from rouge_score.tokenize import tokenize
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from steelyard.metrics.tokenizers import (
    MtevalTokenizer,
    RougeTokenizer,
    StemmedTokenizer,
    UnicodeTokenizer,
    WordTokenizer,
)


def texts(random_pairs, close_pairs):
    return [*random_pairs[0], *random_pairs[1], *close_pairs[0]]


def test_13a_equals_sacrebleu(random_pairs, close_pairs):
    theirs, ours = Tokenizer13a(), MtevalTokenizer()
    for text in [*texts(random_pairs, close_pairs), "1.-2,3-", ".,.,a.,1,", "a .b", "&amp;lt;"]:
        assert ours.tokens(text) == theirs(text.rstrip()).split()


def test_rouge_tokens_equal_rouge_score(random_pairs, close_pairs):
    for text in texts(random_pairs, close_pairs):
        assert RougeTokenizer().tokens(text) == tokenize(text, None)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Naïve café, don't!", ["naïve", "café", "don", "t"]),
        ("cafe\u0301 \uff21\uff22\uff23 ﬁne", ["café", "abc", "fine"]),
        ("東京タワーへ行く", list("東京タワーへ行く")),
        ("iPhone15を買う", ["iphone15", "を", "買", "う"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ไทยที่", ["ไ", "ท", "ย", "ที่"]),
        ("ok 😀❤️!", ["ok", "😀", "❤️"]),
        ("\u0301 a_b snake_case", ["a", "b", "snake", "case"]),
        ("", []),
    ],
)
def test_unicode_words(text, tokens):
    assert UnicodeTokenizer().tokens(text) == tokens


def test_unicode_words_can_be_stemmed():
    stemmed = StemmedTokenizer(tokenizer=UnicodeTokenizer())
    assert stemmed.tokens("Running cafés RUNS has") == ["run", "café", "run", "has"]


def test_words_keep_inner_marks_and_set_others_apart():
    assert WordTokenizer().tokens('Don\'t pay $1,000.50 ("U.S.")!') == [
        *("don't", "pay", "$", "1,000.50", "(", '"', "u.s", ".", '"', ")", "!")
    ]
