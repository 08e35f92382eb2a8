from dataclasses import replace

import pytest
from tests.collect.queries import scored_rows

from steelyard.collect.sampling.unit import Target, Unit
from steelyard.collect.store import StoreError
from steelyard.collect.store.queue import add_units, drawn
from steelyard.collect.store.settings import current


def larger(units, probability):
    """The same units after the draw was extended: their probabilities have grown."""
    return [
        replace(
            unit,
            targets=tuple(replace(one, probability=probability) for one in unit.targets),
        )
        for unit in units
    ]


def test_units_that_are_added_come_after_those_that_are_there(office, make_units):
    office.begin(make_units(2))
    assert office.write(add_units, new=larger(make_units(4), 0.2), now=7) == 2
    assert [target.item for target in office.read(drawn)] == ["i1", "i2", "i3", "i4"]
    given = []
    for _ in range(4):
        lease = office.next("ann", window=1)
        office.submit("ann", lease)
        given.append(lease.shown.content["output"])
    assert given == ["text 1", "text 2", "text 3", "text 4"]
    assert office.read(current).sample_size == 4


def test_a_larger_draw_changes_the_probabilities_of_the_first_part(office, make_units):
    office.begin(make_units(2))
    office.judge("ann", 2)
    office.write(add_units, new=larger(make_units(4), 0.2), now=7)
    assert {target.probability for target in office.read(drawn)} == {0.2}
    assert {row.probability for row in office.read(scored_rows)} == {0.2}


def test_adding_the_same_units_again_adds_nothing(office, make_units):
    office.begin(make_units(3))
    before = office.read(drawn)
    assert office.write(add_units, new=make_units(3), now=7) == 0
    assert office.read(drawn) == before


def test_a_judgment_counts_for_an_output_that_is_drawn_later_and_equal(office):
    content = {"output": "Yes."}
    first = Target(item="i", system="a", draw=1)
    second = Target(item="i", system="b", draw=2)
    office.begin([Unit(item="i", content=content, wanted=1, targets=(first,))])
    office.judge("ann")
    both = Unit(item="i", content=content, wanted=1, targets=(first, second))
    assert office.write(add_units, new=[both], now=7) == 0
    assert [row.system for row in office.read(scored_rows)] == ["a", "b"]


def test_outputs_that_were_put_to_raters_must_stay_what_they_are(office, make_units):
    office.begin(make_units(1))
    [unit] = make_units(1)
    other = replace(unit, content={"output": "another"})
    with pytest.raises(StoreError, match="'s' for item 'i1' is not the one that was put to raters"):
        office.write(add_units, new=[other], now=7)
    assert len(office.read(drawn)) == 1
