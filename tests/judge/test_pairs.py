import math

import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.judge import Judged, Rubric
from steelyard.judge.pairs import Pairing

RUBRIC = Rubric(name="duel", low=1, high=3, user="{output}|{other_output}")


def answered(pairing, score):
    """What a judge says that gives the two outputs of each question a score."""
    scores = np.array([score(*pair) for pair in pairing.asked], dtype=float)
    reasons = tuple("empty reply" if math.isnan(one) else None for one in scores)
    return Judged(scores=scores, reasons=reasons)


def test_a_hand_worked_campaign():
    items, systems = ["i", "i", "i", "j", "j", "k"], ["a", "b", "c", "a", "b", "a"]
    outputs = ["a1", "b1", "a1", "a2", "b2", "a3"]
    pairing = Pairing.of(items, systems, outputs)
    # a and c are the same on i, and tie without a question
    assert len(pairing.pairs) == 4
    assert sorted(pairing.asked) == [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)]

    def score(first, second):
        # on i a beats b in both orders; b and c: the first one wins; on j b wins, or a ties with it
        if {first, second} == {0, 1}:
            return 1 if first == 0 else 3
        if {first, second} == {1, 2}:
            return 1
        return 3 if first == 3 else 2

    found = pairing.compared(answered(pairing, score), RUBRIC, model="m")
    # a on i: 1 against b, 1/2 against c; b on i: 0 and 1/2; c: 1/2 and 1/2
    assert found.scores[:5] == pytest.approx([0.75, 0.25, 0.5, 0.25, 0.75])
    assert found.reasons[5] == "no other output of this item to compare with"
    # the first one gets 1 and 0, 1 and 1, 0 and 1/2: 3.5 of 6
    assert found.order.first_share == pytest.approx(3.5 / 6)
    assert (found.order.n_pairs, found.order.n_changed) == (3, 2)


def test_a_bias_towards_the_first_place_is_found_and_cancels():
    rng = np.random.default_rng(7)
    n_items = 200
    items = [f"i{n}" for n in range(n_items) for _ in range(2)]
    systems = ["a", "b"] * n_items
    outputs = [f"{item} of {system}" for item, system in zip(items, systems, strict=True)]
    pairing = Pairing.of(items, systems, outputs)
    # as good as each other; who is shown first wins in 8 of 10
    judged = answered(pairing, lambda *_: 1 if rng.uniform() < 0.8 else 3)
    found = pairing.compared(judged, RUBRIC, model="m")
    assert found.order.low < 0.8 < found.order.high
    assert found.order.low > 0.5
    share = found.scores[::2]
    error = share.std(ddof=1) / math.sqrt(n_items)
    assert abs(share.mean() - 0.5) < 2.5 * error
    # with one order alone a would have won
    naive = [row["score"] for row in found.preferences if row["first_system"] == "a"]
    assert np.mean(naive) > 0.7


def test_the_interval_of_the_order_effect_covers_at_its_level():
    rng, hits = np.random.default_rng(1), 0
    items = [f"i{n}" for n in range(40) for _ in range(3)]
    systems = ["a", "b", "c"] * 40
    pairing = Pairing.of(items, systems, [str(n) for n in range(120)])
    for _ in range(150):
        # an item's own bias, shared by its pairs
        bias = dict(zip(items, rng.uniform(0.3, 0.9, 120), strict=True))
        judged = answered(pairing, lambda x, _, b=bias: 1 if rng.uniform() < b[items[x]] else 3)
        order = pairing.compared(judged, RUBRIC, model="m").order
        hits += order.low <= 0.6 <= order.high
    # 142.5 expected of 150; fewer than 134 in about 1 of 500 cases
    assert hits >= 134


def test_a_pair_without_a_reply_in_either_order_leaves_no_score():
    pairing = Pairing.of(["i", "i", "j", "j"], ["a", "b", "a", "b"], list("wxyz"))
    judged = answered(pairing, lambda *pair: math.nan if pair == (1, 0) else 1)
    found = pairing.compared(judged, RUBRIC, model="m")
    assert np.isnan(found.scores).tolist() == [True, True, False, False]
    assert found.reasons == ("empty reply", "empty reply", None, None)
    assert found.order.n_pairs == 1
    assert len(found.preferences) == 3
    nothing = pairing.compared(answered(pairing, lambda *_: math.nan), RUBRIC, model="m")
    assert nothing.order.n_pairs == 0


def test_with_a_baseline_others_are_compared_with_it_only():
    arguments = ["i", "i", "i"], ["a", "b", "c"], list("xyz")
    pairing = Pairing.of(*arguments, baseline="b")
    assert {frozenset(pair) for pair in pairing.pairs} == {frozenset({0, 1}), frozenset({1, 2})}
    with pytest.raises(
        InvalidArgumentError, match="`baseline` of a rubric must be one of a, b, c; got 'd'"
    ):
        Pairing.of(*arguments, baseline="d")
    with pytest.raises(InvalidArgumentError, match="compares outputs of one item by two systems"):
        Pairing.of(["i", "j"], ["a", "b"], ["x", "y"])


def test_no_system_is_always_first_in_the_first_order():
    pairing = Pairing.of(
        [str(n // 2) for n in range(20)], ["a", "b"] * 10, list("abcdefghijklmnopqrst")
    )
    assert sum(pair[0] < pair[1] for pair in pairing.pairs) == 5
