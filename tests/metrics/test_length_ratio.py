import pytest

from steelyard.metrics import score


@pytest.mark.parametrize(
    ("output", "reference", "value"),
    [("a b c", "a b", 1.5), ("", "a b", 0), ("", "", 1), ("a b", "", 2)],
)
def test_is_words_of_the_output_over_words_of_the_reference(output, reference, value):
    assert score([output], [reference], metrics=["length-ratio"])["length-ratio"] == [value]


def test_the_best_reference_is_the_one_nearest_in_length():
    got = score(["a b c"], [["a", "a b c d", "a b c d e f"]], metrics=["length-ratio"])
    assert got["length-ratio"] == [3 / 4]


def test_counts_characters_or_unicode_words_when_asked():
    names = ["length-ratio:characters", "length-ratio:unicode"]
    got = score(["我喜欢"], ["我喜欢 猫"], metrics=names)
    assert [got[name][0] for name in names] == [3 / 5, 3 / 4]
