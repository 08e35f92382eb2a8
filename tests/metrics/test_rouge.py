import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from steelyard.metrics import score

TYPES = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}
ATTRIBUTE = {"f": "fmeasure", "precision": "precision", "recall": "recall"}


def agrees_with_rouge_score(outputs, references, *, stem=False, types=TYPES):
    options = ",stem" if stem else ""
    columns = score(
        outputs, references, metrics=[f"{t}:{s}{options}" for t in types for s in ATTRIBUTE]
    )
    scorer = RougeScorer(list(types.values()), use_stemmer=stem)
    expected = [
        scorer.score(reference, output)
        for output, reference in zip(outputs, references, strict=True)
    ]
    for name, peer in types.items():
        for statistic, attribute in ATTRIBUTE.items():
            theirs = [getattr(row[peer], attribute) for row in expected]
            ours = columns[f"{name}:{statistic}{options}"]
            np.testing.assert_allclose(ours, theirs, atol=1e-12, rtol=0)


def test_matches_a_hand_worked_example():
    # 3 of 4 words of the output and of 6 of the reference; "the cat" is the only shared bigram
    columns = score(
        ["the cat sat down"],
        ["on the mat sat the cat"],
        metrics=["rouge-1:precision", "rouge-1:recall", "rouge-1", "rouge-2", "rouge-l:recall"],
    )
    assert columns["rouge-1:precision"] == pytest.approx([3 / 4])
    assert columns["rouge-1:recall"] == pytest.approx([3 / 6])
    assert columns["rouge-1"] == pytest.approx([2 * 3 / (4 + 6)])
    assert columns["rouge-2"] == pytest.approx([2 * 1 / (3 + 5)])
    assert columns["rouge-l:recall"] == pytest.approx([2 / 6])


@pytest.mark.parametrize("stem", [False, True])
def test_equals_rouge_score_on_unrelated_texts(random_pairs, stem):
    agrees_with_rouge_score(*random_pairs, stem=stem)


@pytest.mark.parametrize("stem", [False, True])
def test_equals_rouge_score_on_related_texts(close_pairs, stem):
    agrees_with_rouge_score(*close_pairs, stem=stem)


def test_equals_rouge_score_on_real_answers(answers):
    agrees_with_rouge_score(*answers[:2])


def test_equals_rouge_score_on_texts_of_ten_thousand_words(long_pair):
    output, reference = long_pair
    ngrams = {name: TYPES[name] for name in ("rouge-1", "rouge-2")}
    agrees_with_rouge_score([output], [reference], types=ngrams)
    # its table of the longest common subsequence would be 10,000 by 10,000 Python objects
    agrees_with_rouge_score([output], [reference[:300]])


def test_several_references_are_chosen_by_f_as_rouge_score_chooses():
    output, references = "the cat sat", ["the cat sat on the mat there", "cat", "dogs bark"]
    scorer = RougeScorer(list(TYPES.values()))
    expected = scorer.score_multi(references, output)
    columns = score([output], [references], metrics=[f"{t}:{s}" for t in TYPES for s in ATTRIBUTE])
    for name, peer in TYPES.items():
        for statistic, attribute in ATTRIBUTE.items():
            theirs = getattr(expected[peer], attribute)
            assert columns[f"{name}:{statistic}"] == pytest.approx([theirs])


def test_mean_over_references_is_the_mean_of_single_values():
    output, references = "the cat sat", ["the cat sat on the mat", "cat", "dogs bark"]
    single = score([output] * 3, references, metrics=["rouge-l"])["rouge-l"]
    assert score([output], [references], metrics=["rouge-l:mean"])["rouge-l:mean"] == pytest.approx(
        [single.mean()]
    )


def test_default_tokens_are_ascii_and_unicode_tokens_are_not():
    columns = score(["我喜欢猫"], ["我喜欢狗"], metrics=["rouge-1", "rouge-1:unicode"])
    assert columns["rouge-1"] == [0.0]
    assert columns["rouge-1:unicode"] == pytest.approx([3 / 4])


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_swapping_the_texts_swaps_precision_and_recall(one, other):
    a, b = " ".join(one), " ".join(other)
    names = [f"{t}:{s}" for t in TYPES for s in ATTRIBUTE]
    there, back = score([a], [b], metrics=names), score([b], [a], metrics=names)
    for name in TYPES:
        assert there[f"{name}:precision"] == pytest.approx(back[f"{name}:recall"])
        assert there[f"{name}:f"] == pytest.approx(back[f"{name}:f"])
