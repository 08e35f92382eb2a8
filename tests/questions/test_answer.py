from itertools import combinations

import pytest

from steelyard.questions.answer import answer_sentence, score_sentence
from steelyard.questions.pairs import PairDifference


def pair(a, b, difference, verdict="undecided", **changes):
    clear = verdict in {"a", "b"}
    values = {
        "a": a,
        "b": b,
        "difference": difference,
        "standard_error": 0.05,
        "low": difference - 0.08,
        "high": difference + 0.08,
        "simultaneous_low": difference - 0.1,
        "simultaneous_high": difference + 0.1,
        "p_value": 0.001 if clear else 0.2,
        "verdict": verdict,
        "n_items": 50,
        "identical_items": 0,
        "n_judgments": 200,
        "more_judgments": 0 if clear else 74,
    }
    return PairDifference(**values | changes)


def campaign(means, gap):
    """Return all pairs of systems, of which those are told apart whose means differ by more than `gap`."""
    found = []
    for (a, one), (b, other) in combinations(means.items(), 2):
        difference = one - other
        verdict = "undecided" if abs(difference) < gap else ("a" if difference > 0 else "b")
        found.append(pair(a, b, difference, verdict))
    return found, sorted(means, key=means.get, reverse=True)


@pytest.mark.parametrize(
    ("means", "gap", "want"),
    [
        ({"new": 0.3, "old": 0.1}, 0.1, "new is better than old by 0.20 [0.10, 0.30]."),
        ({"old": 0.1, "new": 0.3}, 0.1, "new is better than old by 0.20 [0.10, 0.30]."),
        (
            {"new": 0.3, "old": 0.1},
            1,
            (
                "new and old cannot be told apart: they differ by 0.20 [0.10, 0.30]; about 74 more judgments "
                "would decide."
            ),
        ),
        (
            {"loopy": 0.0, "copy": 0.42, "fluent": 0.4, "terse": 0.7},
            0.1,
            (
                "terse is best, better than copy by 0.28 [0.18, 0.38]; loopy is worst; copy and fluent cannot be told "
                "apart, about 74 more judgments would decide."
            ),
        ),
        (
            {"a": 0.9, "b": 0.6, "c": 0.3},
            0.1,
            "a is best, better than b by 0.30 [0.20, 0.40]; then b, c.",
        ),
        (
            {"a": 0.5, "b": 0.45, "c": 0.0},
            0.1,
            "Best: a or b, about 74 more judgments would decide; c is worst.",
        ),
        (
            {"a": 0.50, "b": 0.46, "c": 0.44, "d": 0.0},
            0.1,
            "Best: a, b or c; d is worst; 3 of 6 pairs cannot be told apart yet.",
        ),
        (
            {"a": 0.02, "b": 0.01, "c": 0.0},
            0.1,
            (
                "No two of the 3 systems can be told apart yet: the clearest difference, a over c, is 0.02 "
                "[−0.08, 0.12]; about 74 more judgments would decide."  # noqa: RUF001
            ),
        ),
        (
            {f"system {n}": -n / 10 for n in range(25)},
            0.45,
            (
                "Best: one of 5 of the 25 systems (system 0, system 1, system 2 and 2 more); 90 of 300 pairs cannot be "
                "told apart yet."
            ),
        ),
    ],
)
def test_the_sentence_says_who_is_better_by_how_much_and_what_is_open(means, gap, want):
    pairs, order = campaign(means, gap)
    assert answer_sentence(pairs, order, 0.95) == want


def test_where_lower_is_better_the_lead_is_still_positive():
    one = pair("new", "old", -0.2, "a", lower_is_better=True)
    want = "new is better than old by 0.20 [0.10, 0.30]."
    assert answer_sentence([one], ["new", "old"], 0.95) == want


def test_equal_systems_are_not_called_undecided():
    same = {"standard_error": 0.0, "identical_items": 9, "simultaneous_low": 0.0}
    same |= {"simultaneous_high": 0.0, "p_value": 1.0}
    identical = pair("a", "b", 0.0, "equivalent", **same)
    assert answer_sentence([identical], ["a", "b"], 0.95) == "a and b have identical outputs."
    close = pair("a", "b", 0.01, "equivalent", p_value=0.8)
    assert answer_sentence([close], ["a", "b"], 0.95) == (
        "a and b are equivalent: they differ by 0.01 [−0.09, 0.11]."  # noqa: RUF001
    )
    worse = [pair("a", "c", 0.5, "a"), pair("b", "c", 0.5, "a")]
    assert answer_sentence([identical, *worse], ["a", "b", "c"], 0.95) == (
        "Best: a and b, whose outputs are identical; c is worst."
    )


def test_some_pairs_of_many_systems_have_no_order():
    pairs = [pair("a", "old", 0.3, "a"), pair("b", "old", 0.05)]
    assert answer_sentence(pairs, [], 0.95) == (
        "a is better than old by 0.30 [0.20, 0.40]; b and old cannot be told apart: they differ by 0.05 "
        "[−0.05, 0.15]; about 74 more judgments would decide."  # noqa: RUF001
    )
    many = [pair("a", f"s{n}", 0.3, "a", p_value=n / 1e4) for n in range(1, 5)]
    assert answer_sentence([*many, pair("b", "s1", 0.01)], [], 0.95) == (
        "4 of 5 pairs are told apart; most clearly, a is better than s1 by 0.30 [0.20, 0.40]."
    )


def test_preferences_in_a_circle_have_no_best():
    pairs = [pair("a", "b", 0.2, "a"), pair("b", "c", 0.2, "a"), pair("a", "c", -0.2, "b")]
    said = answer_sentence(pairs, ["a", "b", "c"], 0.95, unit="in wins minus losses")
    assert said == "Preferences go round in a circle, so no system is best."


def test_one_system_has_its_mean():
    assert (
        score_sentence("new", 0.7123, 0.66, 0.76) == "new scores 0.712 [0.660, 0.760] on average."
    )
