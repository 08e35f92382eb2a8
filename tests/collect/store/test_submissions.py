import pytest
from tests.collect.queries import entries

from steelyard.collect.policy.budget import spent
from steelyard.collect.store import NotAcceptedError
from steelyard.collect.store.decisions import decide
from steelyard.collect.store.progress import progress
from steelyard.collect.store.records import submission_rows
from steelyard.collect.store.submissions import submit

MINUTE = 60_000


def exclude(office, name):
    office.write(
        decide,
        rater=office.id(name),
        about="estimate",
        verdict="exclude",
        reason="too quick",
        by="admin",
        now=office.now,
    )


def test_a_submission_is_stored_whole_and_paid(office, make_units):
    office.begin(make_units(2))
    lease = office.next("ann")
    office.now += 5000
    answer = {"fluency": 2, "edit": "naïve “text” \N{GRINNING FACE}"}
    accepted = office.submit("ann", lease, answer=answer, scores={"fluency": 2.0}, active_ms=4000)
    assert (accepted.repeated, accepted.surplus) == (False, False)
    assert (accepted.done, accepted.earned) == (1, 250_000)
    [row] = office.read(submission_rows)
    assert row.id == accepted.submission
    assert row.answer == answer
    assert row.scores == {"fluency": 2.0}
    assert (row.active_ms, row.started, row.time) == (4000, lease.started, office.now)
    [entry] = office.read(entries)
    assert (entry.kind, entry.amount, entry.submission) == ("judgment", 250_000, row.id)


def test_the_same_key_again_changes_nothing_and_gets_the_same_answer(office, make_units):
    office.begin(make_units(2))
    lease = office.next("ann")
    first = office.submit("ann", lease, key="k")
    again = office.submit("ann", lease, key="k", answer={"fluency": 0}, pay=9)
    assert again.repeated
    assert (again.submission, again.done, again.earned) == (
        first.submission,
        first.done,
        first.earned,
    )
    assert [row.answer for row in office.read(submission_rows)] == [{"fluency": 1}]
    assert office.read(spent) == 250_000


def test_another_key_for_the_same_unit_is_refused_and_the_first_answer_stands(office, make_units):
    office.begin(make_units(2))
    lease = office.next("ann")
    office.submit("ann", lease, key="k")
    with pytest.raises(NotAcceptedError, match="the first answer stands"):
        office.submit("ann", lease, key="l", answer={"fluency": 0})
    assert [row.answer for row in office.read(submission_rows)] == [{"fluency": 1}]


def test_the_lease_of_another_rater_or_of_nobody_is_refused(office, make_units):
    office.begin(make_units(2))
    lease = office.next("ann")
    with pytest.raises(NotAcceptedError, match="the lease belongs to another rater"):
        office.submit("bob", lease)
    options = {"answer": {}, "scores": {}, "active_ms": 0, "now": 0, "pay": 0}
    with pytest.raises(NotAcceptedError, match="there is no such lease"):
        office.write(submit, lease="?", rater=office.id("ann"), key="k", **options)
    assert office.read(submission_rows) == []
    assert office.read(entries) == []


def test_a_lease_that_is_over_counts_if_nobody_took_the_unit(office, make_units):
    office.begin(make_units(1))
    lease = office.next("ann")
    office.now = lease.expires + MINUTE
    assert not office.submit("ann", lease).surplus
    assert office.next("bob") == "none-left"


def test_work_on_a_unit_that_another_took_is_accepted_as_surplus(office, make_units):
    office.begin(make_units(1))
    lost = office.next("ann")
    office.now = lost.expires
    taken = office.next("bob")
    assert office.submit("ann", lost).surplus
    # bob keeps the unit and may finish it, but it is offered to nobody else
    assert office.next("bob").id == taken.id
    office.now = taken.expires + 30 * MINUTE
    assert office.next("cec") == "none-left"
    assert not office.submit("bob", taken).surplus
    assert office.read(spent) == 500_000
    assert office.read(progress, now=office.now).lacking == 0


def test_a_surplus_spares_a_slot_that_nobody_holds(office, make_units):
    # of three judgments wanted, a late one leaves two: bob's and one more
    office.begin(make_units(1, wanted=3))
    lost = office.next("ann", lease_ms=1)
    office.now += 1
    taken = office.next("bob")
    office.submit("ann", lost)
    office.submit("bob", taken)
    office.judge("cec")
    assert office.next("dan") == "none-left"
    assert len(office.read(submission_rows)) == 3


def test_late_work_on_a_slot_that_is_not_offered_any_more_spares_another(office, make_units):
    office.begin(make_units(1, wanted=2))
    first, second = office.next("ann", lease_ms=1), office.next("bob", lease_ms=1)
    office.now += 1
    taken = office.next("cec")
    # ann's is one too many, so bob's slot is not offered; then bob comes after all
    assert office.submit("ann", first).surplus
    assert not office.submit("bob", second).surplus
    office.now = taken.expires
    assert office.next("dan") == "none-left"


def test_active_time_is_at_most_the_time_since_the_unit_was_given(office, make_units):
    office.begin(make_units(2))
    lease = office.next("ann")
    office.now += 7
    office.submit("ann", lease, active_ms=10**12)
    lease = office.next("ann")
    office.submit("ann", lease, active_ms=-3)
    assert [row.active_ms for row in office.read(submission_rows)] == [7, 0]


def test_what_an_excluded_rater_still_hands_in_is_paid_and_replaced(office, make_units):
    office.begin(make_units(1))
    lease = office.next("ann")
    exclude(office, "ann")
    assert office.submit("ann", lease).earned == 250_000
    assert office.next("bob").unit == lease.unit
