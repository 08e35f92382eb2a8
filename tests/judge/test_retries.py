import numpy as np
import pytest

from steelyard.judge.retries import back_off, requested_wait

MONDAY = "Mon, 02 Jan 2023 00:00:00 GMT"


def test_waits_are_uniform_below_a_bound_that_doubles():
    rng = np.random.default_rng(0)
    for attempt, bound in enumerate([0.5, 1, 2, 4, 8, 16, 30, 30]):
        waits = np.array([back_off(attempt, rng=rng) for _ in range(2000)])
        assert waits.min() >= 0
        assert waits.max() <= bound
        # the mean of 2000 uniform draws has a standard error of 0.0065 bounds
        assert waits.mean() == pytest.approx(bound / 2, abs=0.03 * bound)
    assert back_off(5000, rng=rng) <= 30


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        (None, None),
        ("0", 0.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("Mon, 02 Jan 2023 00:01:00 GMT", 60.0),
        ("Mon, 02 Jan 2023 00:01:00 -0000", 60.0),
        ("Sun, 01 Jan 2023 00:00:00 GMT", 0.0),
    ],
)
def test_the_wish_of_a_server_is_read(header, wait):
    assert requested_wait(header, date=MONDAY) == wait


def test_without_the_servers_clock_ours_is_used():
    assert requested_wait(MONDAY) == 0.0
    assert requested_wait("Mon, 02 Jan 2223 00:00:00 GMT", date="rubbish") > 1e9
