from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.metrics import overlap
from steelyard.metrics.overlap import clipped_matches, pair_matches, sorted_runs
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import WhitespaceTokenizer

words = st.lists(st.sampled_from("abc"), max_size=9).map(" ".join)


def counts(text, n):
    tokens = text.split()
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def clipped(output, references, n):
    most = Counter()
    for reference in references:
        most |= counts(reference, n)
    return sum((counts(output, n) & most).values())


@settings(deadline=None)
@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=4))
@pytest.mark.parametrize("block", [1, 20, 32_768])
def test_equals_counting_one_by_one(block, rows):
    outputs, references = zip(*rows, strict=True)
    pairs = Pairs(outputs, references)
    tokens = pairs.tokens(WhitespaceTokenizer())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "_BLOCK", block)
        single = pair_matches(tokens, pairs, order=4)
        text = np.insert(pairs.reference, pairs.first, pairs.output[pairs.first])
        group = np.insert(pairs.example, pairs.first, np.arange(pairs.n_examples))
        joint = clipped_matches(tokens, text, group, order=4)
    for n in range(1, 5):
        assert joint[n - 1].tolist() == [clipped(o, r, n) for o, r in rows]
        assert single[n - 1].tolist() == [clipped(o, [r], n) for o, rs in rows for r in rs]


def test_keys_of_any_size_are_sorted():
    rng = np.random.default_rng(16)
    key = rng.integers(0, 1 << rng.integers(1, 62, size=500))
    owner = np.sort(rng.integers(0, 9, size=500))
    place, start = sorted_runs(key, np.arange(500), owner)
    assert place.tolist() == sorted(range(500), key=lambda i: (key[i], i))
    runs = np.split(place, start[1:])
    assert len({(key[run[0]], owner[run[0]]) for run in runs}) == len(runs)
    assert all(len(set(zip(key[run], owner[run], strict=True))) == 1 for run in runs)
