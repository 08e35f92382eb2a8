import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.metrics import pieces as module
from steelyard.metrics.pieces import pieces, tokenized
from steelyard.metrics.tokenizers import ChrfTokenizer, MtevalTokenizer, RougeTokenizer

# all that Python takes for whitespace, and some that it does not
LETTERS = "aB.é1 \n\t\x1c\x85\xa0\u2003\u3000\u200b\x00中😀"


@pytest.fixture(params=["few", "many"])
def way(request, monkeypatch):
    """Cut texts the plain way, and the way that is meant for many."""
    monkeypatch.setattr(module, "_FEW", 1 if request.param == "many" else 1000)


def words_of(tokens):
    words = [tokens.vocabulary[number] for number in tokens.ids]
    bounds = zip(tokens.start, tokens.start[1:], strict=False)
    return [words[low:high] for low, high in bounds]


@pytest.mark.usefixtures("way")
@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.text(LETTERS, max_size=12), max_size=5))
def test_texts_are_cut_at_spaces(texts):
    found = pieces(texts)
    assert words_of(found) == [text.split(" ") for text in texts]
    assert len(set(found.vocabulary)) == len(found.vocabulary)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("tokenizer", [RougeTokenizer(), MtevalTokenizer(), ChrfTokenizer()])
@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.text(LETTERS, max_size=12), max_size=5))
def test_texts_are_split_as_the_tokenizer_splits_each_alone(tokenizer, texts):
    found = tokenized(texts, tokenizer)
    assert words_of(found) == [tokenizer.tokens(text) for text in texts]


@pytest.mark.usefixtures("way")
def test_half_a_surrogate_pair_is_a_letter_like_others():
    assert words_of(pieces(["\ud800 a", "a \ud800"])) == [["\ud800", "a"], ["a", "\ud800"]]
