"""A campaign at work, in few words."""

from functools import partial
from itertools import count

import pytest

from steelyard.collect.sampling.unit import Target, Unit
from steelyard.collect.store.leases import next_lease, save_draft
from steelyard.collect.store.raters import join, open_session
from steelyard.collect.store.settings import Facts, initialise
from steelyard.collect.store.submissions import submit

MINUTE = 60_000


def units(n, *, wanted=1, start=1):
    """Units with one output each, drawn from ten times as many."""
    return [
        Unit(
            item=f"i{number}",
            content={"output": f"text {number}"},
            wanted=wanted,
            targets=(
                Target(
                    item=f"i{number}",
                    system="s",
                    draw=number,
                    probability=0.1,
                    stratum_size=10 * n,
                    share=1.0,
                    design="simple",
                    seed=1,
                    signature="simple",
                ),
            ),
        )
        for number in range(start, start + n)
    ]


class Office:
    """A store, a clock that is moved by hand, and raters by name."""

    def __init__(self, store):
        self.store = store
        self.now = 1_000_000
        self.keys = count()
        self.people = {}

    def write(self, operation, **options):
        return self.store.write(partial(operation, **options)).result()

    def read(self, operation, **options):
        return self.store.read(partial(operation, **options))

    def begin(self, new, **facts):
        facts = Facts(fingerprint="f", judgments_per_output=1, **facts)
        return self.write(initialise, facts=facts, units=new, now=self.now)

    def person(self, name):
        """Return rater and session of a name, who joins at the first call."""
        if name not in self.people:
            rater = self.write(join, panel="open", external_id=name, now=self.now)
            session = self.write(
                open_session, rater=rater, panel_session="", parameters={}, now=self.now
            )
            self.people[name] = (rater, session.id)
        return self.people[name]

    def id(self, name):
        return self.person(name)[0]

    def next(self, name, **options):
        rater, session = self.person(name)
        return self.write(
            next_lease,
            rater=rater,
            session=session,
            now=self.now,
            **{"lease_ms": 30 * MINUTE, **options},
        )

    def draft(self, name, lease, answer, **options):
        return self.write(
            save_draft,
            lease=lease.id,
            rater=self.id(name),
            answer=answer,
            now=self.now,
            **{"active_ms": 0, "lease_ms": 30 * MINUTE, **options},
        )

    def submit(self, name, lease, **options):
        return self.write(
            submit,
            lease=lease.id,
            rater=self.id(name),
            now=self.now,
            **{
                "key": f"key {next(self.keys)}",
                "answer": {"fluency": 1},
                "scores": {"fluency": 1.0},
                "active_ms": 0,
                "pay": 250_000,
                **options,
            },
        )

    def judge(self, name, times=1, **options):
        """Let a rater judge so many units; return the leases."""
        leases = []
        for _ in range(times):
            lease = self.next(name)
            self.submit(name, lease, **options)
            leases.append(lease)
        return leases


@pytest.fixture
def office(store):
    return Office(store)


@pytest.fixture
def make_units():
    return units


@pytest.fixture
def make_office():
    return Office
