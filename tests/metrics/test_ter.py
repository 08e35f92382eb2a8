import numpy as np
import pytest
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from steelyard.metrics import score
from steelyard.metrics.ter import edits


def agrees_with_sacrebleu(outputs, references, *, name="ter", **arguments):
    ours = score(outputs, references, metrics=[name])[name]
    peer = TER(**arguments)
    theirs = [
        peer.sentence_score(o, [r] if isinstance(r, str) else r).score / 100
        for o, r in zip(outputs, references, strict=True)
    ]
    np.testing.assert_allclose(ours, theirs, atol=1e-12, rtol=0)


def hard_pair(rng, kind):
    """Words as letters: few distinct ones, moved blocks, or lengths that strain the beam."""
    if kind == "repetitive":
        sizes = rng.integers(0, 45, size=2)
        one, other = (rng.integers(0, rng.integers(1, 12), size=size) for size in sizes)
    elif kind == "short against long":
        one, other = rng.integers(0, 60, size=rng.integers(0, 9)), rng.integers(0, 60, size=110)
    else:
        other = rng.integers(0, 99, size=rng.integers(30, 70))
        cut = rng.integers(8, 30)
        one = np.concatenate([other[cut:], other[:cut]])[rng.random(len(other)) > 0.05]
    return "".join(map(chr, one + 65)), "".join(map(chr, other + 65))


def test_matches_a_hand_worked_example():
    # one shift of "yesterday", one substitution, of five words
    got = score(["yesterday the cat sat down"], ["the dog sat down yesterday"], metrics=["ter"])
    assert got["ter"] == pytest.approx([2 / 5])


def test_equals_sacrebleu_on_unrelated_texts(random_pairs):
    agrees_with_sacrebleu(*random_pairs)


def test_equals_sacrebleu_on_some_related_texts(close_pairs):
    agrees_with_sacrebleu(close_pairs[0][:250], close_pairs[1][:250])


@pytest.mark.slow
def test_equals_sacrebleu_on_related_texts(close_pairs):
    agrees_with_sacrebleu(*close_pairs)


@pytest.mark.slow
def test_equals_sacrebleu_on_real_answers(answers):
    agrees_with_sacrebleu(*answers[:2])


@pytest.mark.parametrize("kind", ["repetitive", "short against long", "rotated"])
def test_equals_sacrebleu_where_the_search_is_hard(kind):
    rng = np.random.default_rng(25)
    for _ in range(12):
        output, reference = hard_pair(rng, kind)
        assert edits(output, reference) == translation_edit_rate(list(output), list(reference))[0]


def test_equals_sacrebleu_when_the_search_is_cut_short():
    # one word repeated gives more than 1000 shifts at once
    output, reference = "ab" * 30 + "x" * 10, "y" * 12 + "ba" * 28
    assert edits(output, reference) == translation_edit_rate(list(output), list(reference))[0]


# sacrebleu needs two minutes for 2,000 words, and 100 million cells for 10,000
@pytest.mark.parametrize("length", [200, pytest.param(500, marks=pytest.mark.slow)])
def test_equals_sacrebleu_on_long_texts(long_pair, length):
    output, reference = (text.lower().split()[:length] for text in long_pair)
    got = score([" ".join(output)], [" ".join(reference)], metrics=["ter"])["ter"]
    number, words = translation_edit_rate(output, reference)
    assert got == pytest.approx([number / words])


def test_texts_of_ten_thousand_words_are_scored(long_pair):
    output, reference = long_pair
    got = score([output, reference], [output, reference[:3000]], metrics=["ter"])["ter"]
    assert got[0] == 0
    assert got[1] == pytest.approx(
        len(reference.split()) / len(reference[:3000].split()) - 1, abs=1
    )


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ("normalized", {"normalized": True}),
        ("case-sensitive", {"case_sensitive": True}),
    ],
)
def test_every_option_means_what_it_means_in_sacrebleu(random_pairs, options, arguments):
    outputs, references = random_pairs[0][:200], random_pairs[1][:200]
    # TER.sentence_score would tokenize references twice, which "it's." does not survive
    tokenizer = TercomTokenizer(**arguments)
    expected = []
    for output, reference in zip(outputs, references, strict=True):
        number, length = translation_edit_rate(
            tokenizer(output).split(), tokenizer(reference).split()
        )
        expected.append(number / length if length else float(number > 0))
    got = score(outputs, references, metrics=[f"ter:{options}"])[f"ter:{options}"]
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


def test_a_text_is_0_from_itself_whatever_the_options():
    text = "it's. John's, x"
    assert TER(normalized=True).sentence_score(text, [text]).score > 0
    assert score([text], [text], metrics=["ter:normalized"])["ter:normalized"] == [0.0]


def test_several_references_are_taken_jointly_as_in_sacrebleu(random_pairs):
    outputs, texts = random_pairs
    references = [[texts[i], outputs[i - 1], texts[i - 2]][: 1 + i % 3] for i in range(200)]
    agrees_with_sacrebleu(outputs[:200], references)


def test_best_and_mean_are_over_single_references():
    output, references = "a b c", ["a b c d", "x y", "a b"]
    single = score([output] * 3, references, metrics=["ter"])["ter"]
    columns = score([output], [references], metrics=["ter:best", "ter:mean"])
    assert columns["ter:best"] == pytest.approx([single.min()])
    assert columns["ter:mean"] == pytest.approx([single.mean()])


@pytest.mark.parametrize(
    ("output", "reference", "value"),
    [("", "", 0), ("a b", "", 1), ("", "a b", 1), ("a b c d", "x", 4)],
)
def test_empty_texts_have_defined_values(output, reference, value):
    assert score([output], [reference], metrics=["ter"])["ter"] == [value]
