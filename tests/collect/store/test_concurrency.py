"""Two processes' worth of stores on one database, and raters who do not wait for each other."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import select
from tests.collect.queries import entries

from steelyard.collect.store import Store
from steelyard.collect.store.leases import next_lease
from steelyard.collect.store.progress import progress
from steelyard.collect.store.raters import join, open_session
from steelyard.collect.store.records import submission_rows
from steelyard.collect.store.settings import Facts, initialise
from steelyard.collect.store.submissions import submit
from steelyard.collect.store.tables import leases, slots

WANTED = 3
UNITS = 25


@pytest.fixture
def stores(database, make_units):
    with Store.open(database) as one, Store.open(database) as two:
        facts = Facts(fingerprint="f", judgments_per_output=WANTED)
        new = make_units(UNITS, wanted=WANTED)
        one.write(partial(initialise, facts=facts, units=new, now=0)).result()
        yield one, two


def rate(stores, name):
    """Judge until nothing is left, through one store and the other in turn."""
    opened = {"panel": "open", "external_id": name, "now": 1}
    # both processes see the rater at the same moment
    came = {store.write(partial(join, **opened)).result() for store in stores}
    [rater] = came
    visits = [
        store.write(partial(open_session, rater=rater, panel_session="", parameters={}, now=1))
        for store in stores
    ]
    [visit] = {future.result().id for future in visits}
    acknowledged = []
    turn = 0
    while True:
        turn += 1
        ask = partial(next_lease, session=visit, rater=rater, now=2, lease_ms=10**9)
        # two windows of one rater ask at the same moment and must get the same unit
        asked = [store.write(ask) for store in stores]
        given = [future.result() for future in asked]
        found = [one for one in given if not isinstance(one, str)]
        if not found:
            if all(one == "none-left" for one in given):
                return acknowledged
            continue
        lease = found[0]
        assert {one.id for one in found} == {lease.id}
        send = partial(
            submit,
            lease=lease.id,
            rater=rater,
            key=lease.id,
            answer={},
            scores={"p": 1.0},
            active_ms=0,
            now=3,
            pay=1,
        )
        # and both send it
        sent = [store.write(send).result() for store in (stores[turn % 2], stores[0])]
        assert sorted(one.repeated for one in sent) == [False, True]
        acknowledged.append(sent[0].submission)


def test_every_slot_is_given_once_and_nothing_is_lost(stores):
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(rate, stores, f"r{number}") for number in range(8)]
        acknowledged = [one for future in futures for one in future.result()]
    rows = stores[0].read(submission_rows)
    assert sorted(acknowledged) == sorted(row.id for row in rows)
    assert Counter(row.unit for row in rows) == dict.fromkeys(range(1, UNITS + 1), WANTED)
    assert len({(row.unit, row.rater) for row in rows}) == len(rows)
    given = stores[0].read(
        lambda connection: connection.execute(select(leases.c.slot)).scalars().all()
    )
    assert max(Counter(given).values()) == 1
    assert len(given) == UNITS * WANTED
    done = stores[0].read(
        lambda connection: connection.execute(select(slots.c.done)).scalars().all()
    )
    assert all(done)
    paid = stores[0].read(entries)
    assert sorted(one.submission for one in paid) == sorted(row.id for row in rows)
    assert stores[0].read(partial(progress, now=0)).lacking == 0
