import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.function_words import function_words, is_mark


def test_english_ones_are_frequent_words():
    assert {"the", "of", "don't", "where"} <= function_words()
    assert not {"cat", "water", "because of", ""} & function_words()
    assert 90 < len(function_words()) < 120


def test_a_file_may_name_others(tmp_path):
    (tmp_path / "words.txt").write_text("Der\ndie\n\n", encoding="utf-8")
    assert function_words(str(tmp_path / "words.txt")) == {"der", "die"}


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"`function_words` must name a file .*absent"):
        function_words(str(tmp_path / "absent"))


def test_marks_have_no_letters_and_digits():
    assert [is_mark(word) for word in ("--", ".", "a.", "7", "中", "😀")] == [
        *(True, True, False, False, False, True)
    ]
