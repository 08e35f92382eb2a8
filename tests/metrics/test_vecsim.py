import logging
import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.metrics import score
from steelyard.metrics.static_vectors import _packaged_weights, packaged_vectors
from steelyard.metrics.vecsim import VecSim


def letters(texts):
    return [[text.count("a"), text.count("b")] for text in texts]


def test_is_the_cosine_of_the_vectors():
    columns = score(
        ["a", "ab", "aab", ""], ["b", "a", "aab", "a"], metrics={"letters": VecSim(embed=letters)}
    )
    assert columns["letters"] == pytest.approx([0.0, np.sqrt(0.5), 1.0, 0.0])


def test_the_best_reference_counts_unless_the_mean_is_asked_for():
    best, mean = VecSim(embed=letters), VecSim(embed=letters, references="mean")
    columns = score(["a"], [["b", "ab"]], metrics={"best": best, "mean": mean})
    assert columns["best"] == pytest.approx([np.sqrt(0.5)])
    assert columns["mean"] == pytest.approx([np.sqrt(0.5) / 2])


def test_packaged_vectors_equal_those_of_wordllama(random_pairs, long_pair):
    import wordllama

    texts = [*random_pairs[0][:500], long_pair[0][:6000]]
    texts += ["", " ", "  ", "  a  b ", "a ", "a   ", "<s> x", "a<unk>b", "\u2581a \u2581 b"]
    model = wordllama.WordLlama.load(
        cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    np.testing.assert_allclose(packaged_vectors()(texts), model.embed(texts), atol=2e-6, rtol=0)


def test_needs_no_network_and_leaves_logging_alone(monkeypatch):
    def refuse(*_):
        pytest.fail("a connection was opened")

    root = logging.getLogger()
    before = root.level, list(root.handlers)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    _packaged_weights.cache_clear()
    assert score(["a cat"], ["a kitten"], metrics=["vecsim"])["vecsim"] > 0.3
    assert (root.level, root.handlers) == before


def test_similar_meaning_scores_higher_than_unrelated():
    got = score(
        ["the cat slept", "the cat slept", "the cat slept", "the cat slept"],
        ["the cat slept", "a kitten was sleeping", "interest rates rose", ""],
        metrics=["vecsim"],
    )["vecsim"]
    assert got[0] == pytest.approx(1.0)
    assert got[0] > got[1] > 0.3 > got[2]
    assert got[3] == 0


@pytest.mark.parametrize(
    ("embed", "message"),
    [
        (lambda texts: np.zeros(len(texts)), r"of shape \(2, d\); got shape \(2,\)"),
        (lambda _: np.zeros((1, 3)), r"of shape \(2, d\); got shape \(1, 3\)"),
        (lambda texts: np.full((len(texts), 3), np.nan), "must return finite vectors"),
    ],
)
def test_refuses_what_is_not_one_finite_vector_for_each_text(embed, message):
    with pytest.raises(InvalidArgumentError, match=message):
        score(["a"], ["b"], metrics={"mine": VecSim(embed=embed)})


def test_says_how_to_go_on_without_the_packaged_vectors(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    _packaged_weights.cache_clear()
    with pytest.raises(MissingDependencyError, match=r"install wordllama, or pass VecSim"):
        score(["a"], ["b"], metrics=["vecsim"])
