"""Any course of events: raters who come, go, forget and hurry, and an administrator who decides."""

import tempfile
from functools import partial
from itertools import count
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import func, select
from tests.collect.queries import entries

from steelyard.collect.store import Store
from steelyard.collect.store.decisions import decide
from steelyard.collect.store.leases import Lease
from steelyard.collect.store.progress import progress
from steelyard.collect.store.queue import add_units
from steelyard.collect.store.records import submission_rows
from steelyard.collect.store.settings import change
from steelyard.collect.store.tables import slots, units

NAMES = ("ann", "bob", "cec", "dan")
WANTED = 2
HALF_HOUR = 30 * 60_000

_SLOTS = select(slots.c.unit, slots.c.offered, slots.c.rater, slots.c.expires).where(
    slots.c.done.is_(False)
)
_UNITS = select(units.c.id, units.c.wanted)
_LAST = select(func.count()).select_from(units)


class Assignment(RuleBasedStateMachine):
    """The store beside a model of what it has promised."""

    def __init__(self, office_of, units_of):
        super().__init__()
        # orders and sides follow from ids: with the same ids, the same events can be run again
        numbers = count()
        self.patches = [
            patch(f"steelyard.collect.store.{module}.new_id", lambda: f"id {next(numbers)}")
            for module in ("raters", "leases")
        ]
        for one in self.patches:
            one.start()
        # in memory where that is possible: the machine makes thousands of commits
        memory = Path("/dev/shm")  # noqa: S108
        self.folder = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
        self.store = Store.open(Path(self.folder.name) / "a.sqlite")
        self.office = office_of(self.store)
        self.units_of = units_of
        self.office.begin(units_of(2, wanted=WANTED))
        self.leases = {}
        self.submitted = {}
        self.excluded = set()
        self.paused = False

    @rule(names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=4), late=st.booleans())
    def ask(self, names, late):
        for name in names:
            # a unit that one rater forgets over lunch is the next one's
            self.office.now += 31 * 60_000 if late else 1
            self._ask(name)

    def _ask(self, name):
        given = self.office.next(name, window=3)
        if self.paused:
            assert given == ("excluded" if name in self.excluded else "paused")
        elif isinstance(given, Lease):
            assert name not in self.excluded
            assert (name, given.unit) not in {
                (who, lease.unit) for who, lease, _ in self.submitted.values()
            }
            self.leases[given.id] = (name, given)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), text=st.text(max_size=3))
    def draft(self, data, text):
        name, lease = data.draw(st.sampled_from(list(self.leases.values())))
        self.office.draft(name, lease, {"comment": text})
        again = None if self.paused or name in self.excluded else self.office.next(name)
        if isinstance(again, Lease) and again.id == lease.id and lease.id not in self.submitted:
            assert (again.id, again.draft) == (lease.id, {"comment": text})
        elif isinstance(again, Lease):
            self.leases[again.id] = (name, again)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), most=st.integers(1, 3))
    def submit(self, data, most):
        chosen = st.lists(st.sampled_from(list(self.leases.values())), min_size=most, max_size=3)
        for name, lease in data.draw(chosen):
            self._submit(name, lease)

    def _submit(self, name, lease):
        key = f"key of {lease.id}"
        accepted = self.office.submit(name, lease, key=key, answer={"lease": lease.id})
        assert accepted.repeated == (lease.id in self.submitted)
        if accepted.repeated:
            assert accepted.submission == self.submitted[lease.id][2]
        self.submitted[lease.id] = (name, lease, accepted.submission)

    @rule(action=st.sampled_from(["pause", "resume", "extend"]))
    def administer(self, action):
        getattr(self, f"_{action}")()

    @rule(name=st.sampled_from(NAMES[:2]), exclude=st.booleans())
    def judge_the_judge(self, name, exclude):
        self._resume()
        self.office.write(
            decide,
            rater=self.office.id(name),
            about="estimate",
            verdict="exclude" if exclude else "include",
            reason="because",
            by="admin",
            now=self.office.now,
        )
        (self.excluded.add if exclude else self.excluded.discard)(name)

    def _pause(self):
        self.paused = True
        self.office.write(change, state="paused", now=self.office.now)

    def _resume(self):
        self.paused = False
        self.office.write(change, state="running", now=self.office.now)

    def _extend(self):
        last = self.store.read(lambda connection: connection.execute(_LAST).scalar_one())
        if last < 4:
            more = self.units_of(last + 1, wanted=WANTED)
            assert self.office.write(add_units, new=more, now=self.office.now) == 1

    @invariant()
    def every_promise_is_kept_once(self):
        rows = self.office.read(submission_rows)
        there = {row.id: row.answer["lease"] for row in rows}
        assert there == {number: lease for lease, (_, _, number) in self.submitted.items()}
        assert len({(row.unit, row.rater) for row in rows}) == len(rows)
        paid = [one.submission for one in self.office.read(entries)]
        assert sorted(paid) == sorted(there)

    @invariant()
    def as_many_slots_are_offered_as_judgments_are_needed(self):
        open_slots = self.store.read(lambda connection: connection.execute(_SLOTS).all())
        known = self.store.read(lambda connection: connection.execute(_UNITS).all())
        for unit, wanted in known:
            counted = sum(
                lease.unit == unit and name not in self.excluded
                for name, lease, _ in self.submitted.values()
            )
            offered = [one for one in open_slots if one.unit == unit and one.offered]
            assert len(offered) == max(0, wanted - counted)
        holders = [one.rater for one in open_slots if one.rater is not None]
        assert len(holders) == len(set(holders))

    def teardown(self):
        """However it went, fresh raters can finish it once all leases are over."""
        self._resume()
        self.office.now += 2 * HALF_HOUR
        for name in ("eve", "fay"):
            while isinstance(lease := self.office.next(name), Lease):
                self.office.submit(name, lease, answer={"lease": lease.id})
        assert self.office.read(progress, now=self.office.now).lacking == 0
        counts = self.office.read(progress, now=self.office.now)
        assert counts.complete == counts.units
        self.store.close()
        self.folder.cleanup()
        for one in self.patches:
            one.stop()


def test_assignment_keeps_its_promises_in_any_course_of_events(make_office, make_units):
    run_state_machine_as_test(
        partial(Assignment, make_office, make_units),
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_assignment_keeps_its_promises_in_many_courses_of_events(make_office, make_units):
    run_state_machine_as_test(
        partial(Assignment, make_office, make_units),
        settings=settings(
            max_examples=300,
            stateful_step_count=60,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
