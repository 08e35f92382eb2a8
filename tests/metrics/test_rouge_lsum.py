import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer, lcs_ind

from steelyard.metrics import score
from steelyard.metrics.rouge_lsum import common_positions

STATISTICS = {"f": "fmeasure", "precision": "precision", "recall": "recall"}


def lines(rng, text):
    """Break a text into lines at random."""
    words = text.split(" ")
    return "".join(word + ("\n" if rng.random() < 0.15 else " ") for word in words)


def test_matches_a_hand_worked_example():
    # from the article: w1 w2 w3 w4 w5 against w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5: w1 w2 w3 w5 found
    columns = score(
        ["w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"],
        ["w1 w2 w3 w4 w5"],
        metrics=["rouge-lsum:recall", "rouge-lsum:precision"],
    )
    assert columns["rouge-lsum:recall"] == pytest.approx([4 / 5])
    assert columns["rouge-lsum:precision"] == pytest.approx([4 / 10])


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("pairs", ["random_pairs", "close_pairs"])
def test_equals_rouge_score(pairs, stem, request):
    rng = np.random.default_rng(155)
    outputs, references = request.getfixturevalue(pairs)
    outputs = [lines(rng, text) for text in outputs[:700]]
    references = [lines(rng, text) for text in references[:700]]
    options = ",stem" if stem else ""
    columns = score(
        outputs, references, metrics=[f"rouge-lsum:{name}{options}" for name in STATISTICS]
    )
    scorer = RougeScorer(["rougeLsum"], use_stemmer=stem)
    expected = [
        scorer.score(reference, output)["rougeLsum"]
        for output, reference in zip(outputs, references, strict=True)
    ]
    for name, attribute in STATISTICS.items():
        theirs = [getattr(row, attribute) for row in expected]
        ours = columns[f"rouge-lsum:{name}{options}"]
        np.testing.assert_allclose(ours, theirs, atol=1e-12, rtol=0)


def test_reads_out_the_same_subsequence_as_rouge_score():
    rng = np.random.default_rng(4)
    for _ in range(300):
        reference, output = (
            rng.integers(0, 4, size=size).tolist() for size in rng.integers(0, 90, 2)
        )
        assert common_positions(reference, output)[::-1] == lcs_ind(reference, output)
