from functools import partial

import pytest

from steelyard.collect.store import NotAcceptedError
from steelyard.collect.store.progress import rater_rows
from steelyard.collect.store.raters import join, open_session, session


def test_a_rater_is_known_by_panel_and_name_there(store):
    def came(panel, name, now):
        return store.write(partial(join, panel=panel, external_id=name, now=now)).result()

    ann = came("prolific", "ann", 1)
    assert came("prolific", "ann", 2) == ann
    other = came("open", "ann", 3)
    known = [(one.id, one.number, one.joined, one.excluded) for one in store.read(rater_rows)]
    assert known == [(ann, 1, 1, False), (other, 2, 3, False)]


def test_ids_are_long_and_random(office):
    ids = {office.id(str(number)) for number in range(20)}
    assert len(ids) == 20
    assert min(map(len, ids)) >= 22


def test_a_visit_is_known_by_rater_and_name(store):
    ann = store.write(partial(join, panel="p", external_id="ann", now=1)).result()

    def visit(name, **parameters):
        operation = partial(
            open_session, rater=ann, panel_session=name, parameters=parameters, now=2
        )
        return store.write(operation).result()

    first = visit("one", STUDY_ID="s")
    assert visit("one", STUDY_ID="t") == first
    assert first.parameters == {"STUDY_ID": "s"}
    assert visit("two").id != first.id
    assert (first.rater, first.number, first.external_id) == (ann, 1, "ann")
    assert (first.done, first.limit, first.finished, first.earned) == (0, None, False, 0)
    assert store.read(lambda connection: session(connection, first.id)) == first


def test_a_visit_is_finished_when_it_has_brought_its_judgments(office, make_units):
    office.begin(make_units(5), session_judgments=2)
    for done in (0, 1, 2):
        seen = office.store.read(partial(session, session_id=office.person("ann")[1]))
        assert (seen.done, seen.limit, seen.finished) == (done, 2, done == 2)
        assert seen.earned == 250_000 * done
        if done < 2:
            office.judge("ann")


def test_errors_name_what_is_wrong(store):
    with pytest.raises(NotAcceptedError, match="there is no such session"):
        store.read(partial(session, session_id="?"))
