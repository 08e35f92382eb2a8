import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.metrics import score


def distance(one, other):
    """Levenshtein distance by the textbook recurrence."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


def test_matches_a_hand_worked_example():
    # one word substituted and one inserted, of five
    columns = score(
        ["The cat sat here"], ["the cat is sat there"], metrics=["edit", "edit:characters"]
    )
    assert columns["edit"] == pytest.approx([2 / 5])
    # T for t, "is " and "t" inserted
    assert columns["edit:characters"] == pytest.approx([5 / 20])


@pytest.mark.parametrize(
    ("output", "reference", "value"), [("", "", 0), ("a", "", 1), ("", "a", 1)]
)
def test_empty_texts_have_defined_values(output, reference, value):
    assert score([output], [reference], metrics=["edit"])["edit"] == [value]


@settings(deadline=None)
@given(st.text("ab c", max_size=20), st.text("ab c", max_size=20))
def test_equals_the_textbook_recurrence(one, other):
    columns = score([one], [other], metrics=["edit", "edit:characters"])
    for name, a, b in (("edit", one.split(), other.split()), ("edit:characters", one, other)):
        assert columns[name] == pytest.approx([distance(a, b) / max(len(a), len(b), 1)])


def test_the_nearest_reference_counts():
    got = score(["a b"], [["a c", "a b c", "x"]], metrics=["edit", "edit:mean"])
    assert got["edit"] == pytest.approx([1 / 3])
    assert got["edit:mean"] == pytest.approx([(1 / 2 + 1 / 3 + 1) / 3])


def test_unicode_words_are_split_without_spaces():
    assert score(["我喜欢猫"], ["我喜欢狗"], metrics=["edit:unicode"])["edit:unicode"] == [1 / 4]
