import math

import numpy as np
import pytest

from steelyard.errors import MissingDependencyError
from steelyard.metrics import encoders, score
from steelyard.metrics.bert_score import BertScore

# unit vectors: a and b at right angles, c between them, d opposite to a; 0 and 1 mark the ends
VECTORS = {
    "<": (1.0, 0.0),
    ">": (0.0, 1.0),
    "a": (1.0, 0.0),
    "b": (0.0, 1.0),
    "c": (math.sqrt(0.5), math.sqrt(0.5)),
    "d": (-1.0, 0.0),
}
LETTERS = list(VECTORS)


class Letters:
    """Tokens are letters, each with a vector of its own; counts the texts that it encodes."""

    def __init__(self, *, ends=False):
        self.ends = ends
        self.special = frozenset({0, 1}) if ends else frozenset()
        self.encoded = []

    def tokens(self, texts):
        found = [[LETTERS.index(letter) for letter in text if letter in VECTORS] for text in texts]
        return [[0, *ids, 1] for ids in found] if self.ends else found

    def vectors(self, tokens):
        self.encoded.extend("".join(LETTERS[one] for one in ids) for ids in tokens)
        table = np.array(list(VECTORS.values()), dtype=np.float32)
        return [table[list(ids)].reshape(-1, 2) for ids in tokens]


def bert_scores(outputs, references, **options):
    options.setdefault("encoder", Letters())
    statistics = ("precision", "recall", "f")
    found = score(
        outputs,
        references,
        metrics={one: BertScore(statistic=one, **options) for one in statistics},
    )
    return [found[one] for one in statistics]


def test_matches_a_hand_worked_example():
    # a is matched by a, c by a or b at 45 degrees; of the reference a by a, b by c
    half = math.sqrt(0.5)
    precision, recall = (1 + half) / 2, (1 + half) / 2
    got = bert_scores(["ac"], ["ab"])
    assert got == [pytest.approx([precision]), pytest.approx([recall]), pytest.approx([precision])]
    precision, recall = (1 + 1 + half) / 3, 1
    got = bert_scores(["aac"], ["a"])
    f = 2 * precision * recall / (precision + recall)
    assert got == [pytest.approx([precision]), pytest.approx([recall]), pytest.approx([f])]


def test_a_word_without_any_likeness_counts_its_negative_cosine():
    assert bert_scores(["d"], ["a"])[0] == pytest.approx([-1.0])


def test_marks_of_the_ends_may_be_matched_but_have_no_weight():
    # b has nothing like it in the other text but the mark of its end
    precision, recall, _ = bert_scores(["b"], ["a"], encoder=Letters(ends=True))
    assert (precision, recall) == (pytest.approx([1.0]), pytest.approx([1.0]))


@pytest.mark.parametrize("ends", [False, True])
def test_a_text_without_tokens_scores_0(ends):
    for column in bert_scores(["", "a", ""], ["a", "", ""], encoder=Letters(ends=ends)):
        assert column.tolist() == [0.0, 0.0, 0.0]


def test_the_best_reference_counts_unless_the_mean_is_asked_for():
    best, mean = (
        score(["a"], [["b", "c"]], metrics={"m": BertScore(encoder=Letters(), references=one)})["m"]
        for one in ("best", "mean")
    )
    assert (best, mean) == (pytest.approx([math.sqrt(0.5)]), pytest.approx([math.sqrt(0.5) / 2]))


def test_a_text_is_encoded_once_for_all_statistics_and_pairs():
    encoder = Letters()
    bert_scores(["a", "ab", "b"], ["ba", "a", ["ba", "a"]], encoder=encoder)
    assert sorted(encoder.encoded) == ["a", "ab", "b", "ba"]


def test_values_do_not_depend_on_the_grouping(monkeypatch):
    rng = np.random.default_rng(4)
    texts = ["".join(rng.choice(list("abcd"), size=size)) for size in rng.integers(0, 9, size=60)]
    whole = bert_scores(texts[:30], texts[30:])
    monkeypatch.setattr("steelyard.metrics.overlap._BLOCK", 10)
    apart = bert_scores(texts[:30], texts[30:])
    np.testing.assert_allclose(apart, whole, atol=1e-6)


@pytest.mark.parametrize("name", ["bert-score", "sentence-similarity"])
def test_names_the_extra_that_brings_the_libraries(monkeypatch, name):
    def absent(library):
        raise ModuleNotFoundError(f"No module named {library!r}")

    monkeypatch.setattr(encoders, "import_module", absent)
    # what an earlier test has loaded
    encoders.token_encoder.cache_clear()
    encoders.sentence_vectors.cache_clear()
    with pytest.raises(MissingDependencyError, match=rf"{name}.*pip install 'steelyard\[neural\]'"):
        score(["a"], ["a"], metrics=[name])
