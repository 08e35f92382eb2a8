from functools import partial

from steelyard.collect.policy import budget
from steelyard.collect.policy.budget import Allowance, Budget, spent

HOUR = 3_600_000


def test_what_is_remembered_of_old_entries_is_their_sum(office, make_units, monkeypatch):
    monkeypatch.setattr(budget, "_RECENT", 3)
    office.begin(make_units(12))
    known = Budget(pay=250_000, bonus=0, lease_ms=1)
    for _ in range(10):
        office.judge("ann")
        office.now += HOUR
        found = office.read(known._spent, now=office.now)
        assert found == office.read(spent)
    assert known._mark > 0


def test_a_limit_without_pay_refuses_nothing(office, make_units):
    office.begin(make_units(2))
    free = partial(Budget(pay=0, bonus=0, lease_ms=1).allowance, now=office.now)
    assert office.read(free, budget=0) == Allowance(refusal=None, judgments=None)
    paid = partial(Budget(pay=1, bonus=0, lease_ms=1).allowance, now=office.now)
    assert [office.read(paid, budget=limit) for limit in (None, 0, 3)] == [
        Allowance(refusal=None, judgments=None),
        Allowance(refusal="enough", judgments=0),
        Allowance(refusal=None, judgments=3),
    ]
