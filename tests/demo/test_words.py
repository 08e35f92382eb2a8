import datetime as dt

import numpy as np
import pytest

from steelyard.demo.words import count, date, money, number, ordinal, pick, price


def drawn(draw, times=400):
    rng = np.random.default_rng(0)
    return {draw(rng) for _ in range(times)}


def test_a_date_has_its_own_weekday_and_lies_in_its_months():
    for text in drawn(date(3, 5)):
        weekday, _ = text.split(maxsplit=1)
        day = dt.datetime.strptime(f"{text} 2018", "%A %d %B %Y").replace(tzinfo=dt.UTC)
        assert f"{day:%A}" == weekday
        assert 3 <= day.month <= 5


def test_numbers_keep_to_their_range_and_step_and_have_commas():
    assert drawn(number(980, 1_020, 20)) == {"980", "1,000", "1,020"}


def test_counts_are_words():
    assert drawn(count(3, 5)) == {"three", "four", "five"}


def test_ordinals_are_words_up_to_the_tenth_and_end_rightly_above():
    assert drawn(ordinal(9, 13)) == {"ninth", "tenth", "11th", "12th", "13th"}
    assert drawn(ordinal(20, 24)) == {"20th", "21st", "22nd", "23rd", "24th"}


def test_prices_and_sums_are_in_pounds():
    assert drawn(price(8, 9)) == {"£8", "£8.50", "£9", "£9.50"}
    assert drawn(money(2, 3, "million")) >= {"£2 million", "£2.5 million", "£3 million"}
    assert drawn(money(40, 41, ",000")) == {"£40,000", "£41,000"}


@pytest.mark.parametrize("mark", ["*", "@", "#"])
def test_marks_are_filled(mark):
    for text in drawn(pick(f"x {mark}")):
        assert mark not in text
        assert len(text) > len("x ")
