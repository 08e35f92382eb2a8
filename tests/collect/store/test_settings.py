from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from steelyard.collect.store import OtherCampaignError, Store, StoreError
from steelyard.collect.store.queue import drawn
from steelyard.collect.store.settings import Facts, change, current, initialise
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
    with pytest.raises(OtherCampaignError, match="name another database"):
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


def test_errors_name_what_is_wrong(store, make_units):
    store.write(partial(initialise, facts=FACTS, units=make_units(1), now=5)).result()
    with pytest.raises(InvalidArgumentError, match="`state` must be one of running"):
        store.write(partial(change, state="off", now=6)).result()
    with pytest.raises(InvalidArgumentError, match="`half_width` must be greater than 0"):
        store.write(partial(change, half_width=0.0, now=6)).result()
    with pytest.raises(InvalidArgumentError, match="`budget` must not be negative"):
        store.write(partial(change, budget=-1, now=6)).result()
