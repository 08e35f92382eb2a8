import pytest

from steelyard.metrics import score


@pytest.mark.parametrize(
    ("output", "reference", "answer", "words", "unicode"),
    [
        ("The cat.", "cat", 1, 0, 0),
        ("the cat.", "THE CAT", 1, 0, 1),
        ("cat  sat\n", "cat sat", 1, 1, 1),
        ("catsat", "cat sat", 0, 0, 0),
        ("", "", 1, 1, 1),
        ("", "the", 1, 0, 0),
        ("cat", "", 0, 0, 0),
        ("\uff21\uff22\uff23", "abc", 0, 0, 1),
    ],
)
def test_compares_what_it_is_asked_to(output, reference, answer, words, unicode):
    names = ["exact-match", "exact-match:words", "exact-match:unicode"]
    columns = score([output], [reference], metrics=names)
    assert [columns[name][0] for name in names] == [answer, words, unicode]


def test_one_matching_reference_is_enough_unless_the_mean_is_asked_for():
    columns = score(["yes"], [["no", "Yes", "no"]], metrics=["exact-match", "exact-match:mean"])
    assert columns["exact-match"] == [1.0]
    assert columns["exact-match:mean"] == pytest.approx([1 / 3])
