from dataclasses import replace

from steelyard.collect.policy.stopping import let_go, pause_at_goal
from steelyard.collect.store.settings import change, current


def of_systems(units):
    """Give every second unit to another system, and the last to both."""
    given = []
    for number, unit in enumerate(units):
        [target] = unit.targets
        other = replace(target, system="other")
        targets = (target, other) if unit is units[-1] else (other if number % 2 else target,)
        given.append(replace(unit, targets=targets))
    return given


def test_units_of_systems_that_are_out_are_given_to_nobody(office, make_units):
    office.begin(of_systems(make_units(5)))
    held = office.next("early")  # i1 of s, or i2 of other
    assert office.write(let_go, systems=["other"], now=office.now) > 0
    given = [held.shown.content["output"]]
    for name in ("a", "b", "c", "d"):
        found = office.next(name)
        if not isinstance(found, str):
            given.append(found.shown.content["output"])
    # those of the other system alone are units 2 and 4; the last one belongs to both
    assert {"text 1", "text 3", "text 5"} <= set(given)
    assert set(given) - {held.shown.content["output"]} <= {"text 1", "text 3", "text 5"}
    assert office.write(let_go, systems=["other"], now=office.now) == 0
    # whoever holds a unit may submit it
    office.submit("early", held)
    # in again, because judgments were left out: it gets what it lacks
    assert office.write(let_go, systems=[], now=office.now) > 0
    assert not isinstance(office.next("late"), str)


def test_a_race_that_is_over_pauses_a_campaign_once(office, make_units):
    office.begin(make_units(2))
    assert office.write(pause_at_goal, half_width=None, now=office.now)
    assert office.read(current).state == "paused"
    assert office.next("late") == "enough"
    office.write(change, state="running", now=office.now)
    assert not office.write(pause_at_goal, half_width=None, now=office.now)
    office.write(change, state="paused", now=office.now)
