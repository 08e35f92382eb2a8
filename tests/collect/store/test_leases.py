from collections import Counter

import pytest
from sqlalchemy import select

from steelyard.collect.sampling.unit import Target, Unit
from steelyard.collect.store import NotAcceptedError
from steelyard.collect.store.decisions import decide
from steelyard.collect.store.leases import Lease, next_lease, save_draft
from steelyard.collect.store.settings import change
from steelyard.collect.store.tables import slots

MINUTE = 60_000


def test_a_rater_gets_every_unit_once_and_then_nothing(office, make_units):
    office.begin(make_units(5))
    given = [lease.unit for lease in office.judge("ann", 5)]
    assert sorted(given) == [1, 2, 3, 4, 5]
    assert office.next("ann") == "none-left"


def test_a_unit_is_judged_by_as_many_different_raters_as_wanted(office, make_units):
    office.begin(make_units(4, wanted=2))
    office.judge("ann", 4)
    assert office.next("ann") == "none-left"
    office.judge("bob", 4)
    assert office.next("cec") == "none-left"


def test_raters_see_units_in_different_orders(office, make_units):
    office.begin(make_units(8, wanted=6))
    orders = {tuple(lease.unit for lease in office.judge(name, 8)) for name in "abcdef"}
    assert len(orders) > 3


def test_no_unit_is_passed_over_for_long(office, make_units):
    office.begin(make_units(60, wanted=2))
    judged = {name: set() for name in "abcde"}
    for turn in range(100):
        name = "abcde"[turn % 5]
        lease = office.judge(name)[0]
        counts = Counter(unit for units in judged.values() for unit in units)
        first = min(n for n in range(1, 61) if counts[n] < 2 and n not in judged[name])
        assert first <= lease.unit < first + 10
        judged[name].add(lease.unit)


def test_the_window_says_how_far_ahead_a_rater_may_be(office, make_units):
    office.begin(make_units(10))
    given = []
    for _ in range(10):
        lease = office.next("ann", window=1)
        office.submit("ann", lease)
        given.append(lease.unit)
    assert given == list(range(1, 11))


def test_a_rater_who_comes_back_gets_the_same_unit_with_the_draft(office, make_units):
    office.begin(make_units(5))
    lease = office.next("ann")
    office.now += MINUTE
    office.draft("ann", lease, {"fluency": 2}, active_ms=MINUTE)
    again = office.next("ann")
    assert (again.id, again.unit, again.draft) == (lease.id, lease.unit, {"fluency": 2})
    assert (again.started, again.active_ms) == (lease.started, MINUTE)
    assert again.expires == office.now + 30 * MINUTE


def test_what_one_holds_another_does_not_get(office, make_units):
    office.begin(make_units(2))
    held = {office.next("ann").unit, office.next("bob").unit}
    assert held == {1, 2}
    assert office.next("cec") == "wait"


def test_a_lease_that_is_over_goes_to_another(office, make_units):
    office.begin(make_units(1))
    lost = office.next("ann")
    office.now = lost.expires - 1
    assert office.next("bob") == "wait"
    office.now = lost.expires
    taken = office.next("bob")
    assert taken.unit == lost.unit
    assert taken.id != lost.id
    assert taken.draft is None
    assert office.next("ann") == "wait"


def test_a_lease_that_is_over_is_renewed_for_its_holder_if_nobody_took_it(office, make_units):
    office.begin(make_units(1))
    lease = office.next("ann")
    office.draft("ann", lease, {"fluency": 2})
    office.now = lease.expires + MINUTE
    again = office.next("ann")
    assert (again.id, again.draft) == (lease.id, {"fluency": 2})
    assert office.next("bob") == "wait"


def test_a_unit_that_was_lost_twice_returns_to_the_first_rater(office, make_units):
    # otherwise two forgetful raters would leave a unit that nobody can ever judge
    office.begin(make_units(1))
    lost = office.next("ann")
    office.draft("ann", lost, {"fluency": 2})
    office.now = lost.expires + 30 * MINUTE
    office.now = office.next("bob").expires
    again = office.next("ann")
    assert (again.id, again.draft) == (lost.id, {"fluency": 2})


def test_a_draft_renews_the_lease(office, make_units):
    office.begin(make_units(1))
    lease = office.next("ann")
    office.now = lease.expires - 1
    assert office.draft("ann", lease, {}) == office.now + 30 * MINUTE
    office.now = lease.expires
    assert office.next("bob") == "wait"


def test_the_draft_of_a_lost_unit_is_kept_but_does_not_take_it_back(office, make_units):
    office.begin(make_units(1))
    lost = office.next("ann")
    office.now = lost.expires
    taken = office.next("bob")
    office.draft("ann", lost, {"fluency": 1})
    assert office.next("bob").id == taken.id


def test_active_time_of_a_draft_is_at_most_the_time_since_it_was_given(office, make_units):
    office.begin(make_units(1))
    lease = office.next("ann")
    office.now += 5
    office.draft("ann", lease, {}, active_ms=10**9)
    assert office.next("ann").active_ms == 5


@pytest.mark.parametrize("state", ["paused", "stopped"])
def test_nothing_is_given_while_the_campaign_rests(office, make_units, state):
    office.begin(make_units(3))
    lease = office.next("ann")
    office.write(change, state=state, now=office.now)
    assert office.next("ann") == state
    # but what is held may be handed in
    assert not office.submit("ann", lease).repeated
    office.write(change, state="running", now=office.now)
    assert isinstance(office.next("ann"), Lease)


def test_a_visit_ends_after_its_judgments(office, make_units):
    office.begin(make_units(5), session_judgments=2)
    office.judge("ann", 2)
    assert office.next("ann") == "session-complete"
    office.judge("bob", 2)


def test_an_excluded_rater_is_given_nothing(office, make_units):
    office.begin(make_units(5))
    office.judge("ann")
    office.write(
        decide,
        rater=office.id("ann"),
        about="estimate",
        verdict="exclude",
        reason="too quick",
        by="rule",
        now=office.now,
    )
    assert office.next("ann") == "excluded"


def test_gold_comes_every_so_often_and_to_every_rater(office, make_units):
    gold = [
        Unit(item=f"g{n}", content={"output": f"gold {n}"}, wanted=0, gold={"fluency": [1]})
        for n in range(2)
    ]
    office.begin([*make_units(20), *gold], gold_every=3)
    for name in ("ann", "bob"):
        kinds = [lease.gold for lease in office.judge(name, 9)]
        # one of the first three and one of the second; then none is left
        assert [sum(kinds[at : at + 3]) for at in (0, 3, 6)] == [1, 1, 0]


def test_nobody_can_tell_at_which_place_gold_comes(office, make_units):
    gold = Unit(item="g", content={"output": "gold"}, wanted=0, gold={"fluency": [1]})
    office.begin([*make_units(120), gold], gold_every=4)
    places = [
        [lease.gold for lease in office.judge(f"r{number}", 4)].index(True) for number in range(24)
    ]
    assert set(places) == {0, 1, 2, 3}


def test_gold_that_one_rater_left_is_not_given_to_another(office, make_units):
    gold = Unit(item="g", content={"output": "gold"}, wanted=0, gold={"fluency": [1]})
    office.begin([*make_units(6), gold], gold_every=2)
    held = office.next("ann")
    if not held.gold:
        office.submit("ann", held)
        held = office.next("ann")
    assert held.gold
    office.now = held.expires + 1
    assert sum(lease.gold for lease in office.judge("bob", 4)) == 1
    assert office.next("ann").id == held.id


def test_the_sides_of_a_pair_change_places_for_about_half_of_the_leases(office):
    pairs = [
        Unit(
            item=f"i{n}",
            content={"first": "one", "second": "two"},
            wanted=1,
            pair=True,
            targets=(Target(item=f"i{n}", system="a", draw=n + 1),),
        )
        for n in range(40)
    ]
    office.begin(pairs)
    leases = office.judge("ann", 40)
    for lease in leases:
        shown = (lease.shown.content["first"], lease.shown.content["second"])
        assert shown == (("two", "one") if lease.shown.swapped else ("one", "two"))
    # 40 fair coins: outside with a probability of one in a million
    assert 5 <= sum(lease.shown.swapped for lease in leases) <= 35


def test_one_rater_cannot_hold_two_slots(office, make_units):
    office.begin(make_units(3))
    office.next("ann")
    rater = office.id("ann")
    taken = slots.update().where(slots.c.unit == 3, slots.c.rater.is_(None)).values(rater=rater)
    taken_too = slots.update().where(slots.c.unit == 2, slots.c.rater.is_(None)).values(rater=rater)
    with pytest.raises(Exception, match=r"nothing was stored|busy"):
        office.store.write(
            lambda connection: [connection.execute(one) for one in (taken, taken_too)]
        ).result()
    held = office.store.read(
        lambda connection: connection.execute(
            select(slots.c.unit).where(slots.c.rater == rater)
        ).all()
    )
    assert len(held) == 1


def test_errors_name_what_is_wrong(office, make_units):
    office.begin(make_units(2))
    lease = office.next("ann")
    with pytest.raises(NotAcceptedError, match="the lease belongs to another rater"):
        office.draft("bob", lease, {})
    options = {"now": office.now, "lease_ms": 1}
    with pytest.raises(NotAcceptedError, match="there is no such lease"):
        office.write(
            save_draft, lease="?", rater=office.id("ann"), answer={}, active_ms=0, **options
        )
    with pytest.raises(NotAcceptedError, match="there is no such session"):
        office.write(next_lease, session="?", rater=office.id("ann"), **options)
    with pytest.raises(NotAcceptedError, match="the session belongs to another rater"):
        office.write(next_lease, session=office.person("ann")[1], rater=office.id("bob"), **options)
