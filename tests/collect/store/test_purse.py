from functools import partial

from steelyard.collect.store import purse
from steelyard.collect.store.ledger import spent
from steelyard.collect.store.purse import Allowance, Purse

HOUR = 3_600_000


def test_what_is_remembered_of_old_entries_is_their_sum(office, make_units, monkeypatch):
    monkeypatch.setattr(purse, "_RECENT", 3)
    office.begin(make_units(12))
    known = Purse(pay=250_000, bonus=0, lease_ms=1)
    for _ in range(10):
        office.judge("ann")
        office.now += HOUR
        found = office.read(known.spent, now=office.now)
        assert found == office.read(spent)
    assert known._mark > 0


def test_a_limit_without_pay_refuses_nothing(office, make_units):
    office.begin(make_units(2))
    free = partial(Purse(pay=0, bonus=0, lease_ms=1).allowance, now=office.now)
    assert office.read(free, budget=0) == Allowance(refusal=None, judgments=None)
    paid = partial(Purse(pay=1, bonus=0, lease_ms=1).allowance, now=office.now)
    assert [office.read(paid, budget=limit) for limit in (None, 0, 3)] == [
        Allowance(refusal=None, judgments=None),
        Allowance(refusal="enough", judgments=0),
        Allowance(refusal=None, judgments=3),
    ]
