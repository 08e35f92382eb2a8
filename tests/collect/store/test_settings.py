from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from steelyard.collect.policy.stopping import pause_at_goal
from steelyard.collect.store import Reader, Store, StoreError
from steelyard.collect.store.queue import drawn
from steelyard.collect.store.settings import (
    Facts,
    change,
    current,
    has_begun,
    initialise,
    renew_secret,
)
from steelyard.errors import InvalidArgumentError

FACTS = Facts(fingerprint="f", judgments_per_output=2, half_width=0.1, mirrored=("p",))


def test_a_new_database_has_no_campaign(store):
    assert store.read(current) is None
    with pytest.raises(StoreError, match="no campaign has begun"):
        store.write(partial(change, state="paused", now=1)).result()


def test_a_campaign_begins_once(store, make_units):
    begin = partial(initialise, facts=FACTS, units=make_units(3), now=5)
    first = store.write(begin).result()
    assert first.state == "running"
    assert (first.half_width, first.budget, first.sample_size) == (0.1, None, 3)
    assert (first.created, first.mirrored) == (5, ("p",))
    assert len(first.secret) >= 43
    again = store.write(partial(initialise, facts=FACTS, units=make_units(9), now=6)).result()
    assert again == first
    assert len(store.read(drawn)) == 3


def test_a_database_belongs_to_its_campaign(store, make_units):
    store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()
    other = Facts(fingerprint="g", judgments_per_output=1)
    with pytest.raises(StoreError, match="name another database"):
        store.write(partial(initialise, facts=other, units=make_units(1), now=5)).result()


def test_processes_that_start_together_begin_one_campaign(database, make_units):
    def start(_):
        with Store.open(database) as store:
            begin = partial(initialise, facts=FACTS, units=make_units(20), now=5)
            return store.write(begin).result().secret

    with ThreadPoolExecutor(4) as pool:
        secrets = set(pool.map(start, range(4)))
    assert len(secrets) == 1
    with Store.open(database) as store:
        assert len(store.read(drawn)) == 20


def test_what_is_not_given_stays(store, make_units):
    store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()
    changed = store.write(partial(change, state="paused", now=6)).result()
    assert (changed.state, changed.half_width, changed.changed) == ("paused", 0.1, 6)
    changed = store.write(partial(change, half_width=0.2, budget=7, now=8)).result()
    assert (changed.state, changed.half_width, changed.budget) == ("paused", 0.2, 7)
    assert store.read(current) == changed


def test_a_budget_can_be_lifted(store, make_units):
    store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()
    assert store.write(partial(change, budget=7, now=6)).result().budget == 7
    lifted = store.write(partial(change, unlimited=True, now=7)).result()
    assert (lifted.budget, lifted.half_width, lifted.state) == (None, 0.1, "running")


def test_what_is_edited_in_the_file_is_taken_over_at_the_next_start(store, make_units):
    def start(**facts):
        found = replace(FACTS, **facts)
        return store.write(partial(initialise, facts=found, units=(), now=9)).result()

    store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()
    edited = start(session_judgments=3, gold_every=4, half_width=0.05, budget=10)
    assert (edited.session_judgments, edited.gold_every) == (3, 4)
    assert (edited.half_width, edited.budget, edited.changed) == (0.05, 10, 9)
    assert start(session_judgments=3, gold_every=4, half_width=0.05, budget=10) == edited
    # what was changed on the dashboard stays until the file says something new
    store.write(partial(change, half_width=0.3, budget=20, now=9)).result()
    assert start(half_width=0.05, budget=10).half_width == 0.3
    assert start(half_width=0.05, budget=10).budget == 20
    again = start(half_width=0.05, budget=None)
    assert (again.half_width, again.budget, again.session_judgments) == (0.3, None, None)


def test_a_goal_pauses_a_campaign_once(store, make_units):
    store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()

    def reach(half_width):
        return store.write(partial(pause_at_goal, half_width=half_width, now=6)).result()

    assert not reach(0.2)
    assert reach(0.1)
    assert store.read(current).state == "paused"
    store.write(partial(change, state="running", now=7)).result()
    assert not reach(0.1)
    store.write(partial(change, half_width=0.05, now=8)).result()
    assert reach(0.05)


def test_a_campaign_has_begun_when_its_settings_are_there(store, make_units, tmp_path):
    assert not store.read(has_begun)
    store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()
    assert store.read(has_begun)
    with Reader.open(tmp_path / "without-tables.sqlite") as other:
        assert not other.read(has_begun)


def test_a_secret_is_renewed_and_nothing_else(store, make_units):
    with pytest.raises(StoreError, match="no campaign has begun"):
        store.write(partial(renew_secret, fingerprint="f", now=6)).result()
    before = store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()
    with pytest.raises(StoreError, match="belongs to another campaign"):
        store.write(partial(renew_secret, fingerprint="g", now=6)).result()
    assert store.read(current) == before
    store.write(partial(renew_secret, fingerprint="f", now=6)).result()
    after = store.read(current)
    assert len(after.secret) >= 43
    assert after.secret != before.secret
    assert replace(after, secret=before.secret, revision=before.revision, changed=5) == before


def test_errors_name_what_is_wrong(store, make_units):
    store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()
    with pytest.raises(InvalidArgumentError, match="`state` must be one of running"):
        store.write(partial(change, state="off", now=6)).result()
    with pytest.raises(InvalidArgumentError, match="`half_width` must be greater than 0"):
        store.write(partial(change, half_width=0.0, now=6)).result()
    with pytest.raises(InvalidArgumentError, match="`budget` must not be negative"):
        store.write(partial(change, budget=-1, now=6)).result()
    with pytest.raises(InvalidArgumentError, match="`budget` must not be given with `unlimited`"):
        store.write(partial(change, budget=1, unlimited=True, now=6)).result()
