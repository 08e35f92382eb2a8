import pytest
from tests.collect.queries import scored_rows

from steelyard.collect.store import NotAcceptedError
from steelyard.collect.store.decisions import decide, history, latest
from steelyard.collect.store.progress import progress
from steelyard.errors import InvalidArgumentError


def decided(office, name, verdict, **options):
    return office.write(
        decide,
        rater=office.id(name),
        verdict=verdict,
        now=office.now,
        **{"about": "estimate", "reason": "because", "by": "admin", **options},
    )


def test_decisions_are_added_and_the_last_one_counts(office, make_units):
    office.begin(make_units(2))
    decided(office, "ann", "exclude")
    decided(office, "ann", "refuse", about="payment")
    decided(office, "ann", "include")
    assert [one.verdict for one in office.read(history)] == ["exclude", "refuse", "include"]
    last = office.read(latest)
    assert last[office.id("ann"), "estimate"].verdict == "include"
    assert last[office.id("ann"), "payment"].verdict == "refuse"


def test_deciding_the_same_again_adds_nothing(office, make_units):
    office.begin(make_units(2))
    first = decided(office, "ann", "exclude")
    assert decided(office, "ann", "exclude") == first
    assert len(office.read(history)) == 1


def test_a_rule_does_not_overrule_an_administrator(office, make_units):
    office.begin(make_units(2))
    decided(office, "ann", "exclude", by="rule")
    decided(office, "ann", "include", by="admin")
    assert decided(office, "ann", "exclude", by="rule").verdict == "include"
    assert [one.by for one in office.read(history)] == ["rule", "admin"]


def test_units_of_an_excluded_rater_are_offered_again_at_the_front(office, make_units):
    office.begin(make_units(30))
    dropped = {lease.unit for lease in office.judge("ann", 3)}
    decided(office, "ann", "exclude")
    again = {office.next("bob", window=1).unit}
    office.submit("bob", office.next("bob"))
    for _ in range(2):
        lease = office.next("bob", window=1)
        again.add(lease.unit)
        office.submit("bob", lease)
    assert again == dropped


def test_nothing_of_an_excluded_rater_is_deleted(office, make_units):
    office.begin(make_units(3))
    office.judge("ann", 2)
    office.judge("bob", 1)
    decided(office, "ann", "exclude")
    rows = office.read(scored_rows)
    assert sorted(row.excluded for row in rows) == [False, True, True]
    counts = office.read(progress, now=office.now)
    assert (counts.judgments, counts.counted, counts.complete) == (3, 1, 1)
    assert counts.spent == 750_000
    assert counts.lacking == 2


def test_taking_a_rater_in_again_withdraws_what_nobody_works_on(office, make_units):
    office.begin(make_units(2))
    office.judge("ann", 2)
    decided(office, "ann", "exclude")
    held = office.next("bob")
    decided(office, "ann", "include")
    assert office.next("cec") == "none-left"
    # bob began in good faith, and finishes
    assert not office.submit("bob", held).surplus
    assert office.next("bob") == "none-left"


def test_excluding_again_offers_the_same_slots_and_no_more(office, make_units):
    office.begin(make_units(2))
    office.judge("ann", 2)
    for verdict in ("exclude", "include", "exclude"):
        decided(office, "ann", verdict)
    office.judge("bob", 2)
    assert office.next("cec") == "none-left"
    assert office.read(progress, now=office.now).lacking == 0


def test_a_replacement_is_not_given_to_whoever_judged_the_unit(office, make_units):
    office.begin(make_units(1, wanted=2))
    office.judge("ann")
    office.judge("bob")
    decided(office, "ann", "exclude")
    assert office.next("bob") == "none-left"
    office.judge("cec")
    assert office.read(progress, now=office.now).lacking == 0


def test_errors_name_what_is_wrong(office, make_units):
    office.begin(make_units(1))
    with pytest.raises(InvalidArgumentError, match="`verdict` must be exclude or include"):
        decided(office, "ann", "refuse")
    with pytest.raises(InvalidArgumentError, match=r"`verdict` must be .* got 'exclude' about 'x'"):
        decided(office, "ann", "exclude", about="x")
    with pytest.raises(InvalidArgumentError, match="`reason` must say why"):
        decided(office, "ann", "exclude", reason=" ")
    with pytest.raises(InvalidArgumentError, match="`by` must be rule or admin"):
        decided(office, "ann", "exclude", by="me")
    office.people["nobody"] = ("?", "?")
    with pytest.raises(NotAcceptedError, match="there is no such rater"):
        decided(office, "nobody", "exclude")
    assert office.read(history) == []
