import polars as pl
from tests.collect.queries import entries, scored_rows, totals

from steelyard.collect.money import micro
from steelyard.collect.policy.budget import spent
from steelyard.collect.sampling.unit import Target, Unit
from steelyard.collect.store.decisions import decide
from steelyard.collect.store.judgments import judgment_rows
from steelyard.collect.store.progress import newest, progress, rater_rows
from steelyard.collect.store.records import submission_rows
from steelyard.collect.store.settings import change
from steelyard.collect.store.tutorials import record_tutorial_answer
from steelyard.records import DRAW_COLUMNS
from steelyard.tables import read_judgments


def test_a_submission_is_a_judgment_of_every_output_it_stands_for(office):
    targets = tuple(
        Target(item="i", system=system, draw=draw, probability=0.5, design="simple")
        for system, draw in (("a", 3), ("b", 1))
    )
    office.begin([Unit(item="i", content={"output": "Yes."}, wanted=1, targets=targets)])
    lease = office.next("ann")
    office.now += 2500
    office.submit("ann", lease, scores={"fluency": 2.0, "overall": 1.0}, active_ms=1500)
    rows = office.read(scored_rows)
    assert [(row.system, row.prompt, row.score, row.draw) for row in rows] == [
        ("a", "fluency", 2.0, 3),
        ("a", "overall", 1.0, 3),
        ("b", "fluency", 2.0, 1),
        ("b", "overall", 1.0, 1),
    ]
    assert {(row.seconds, row.time) for row in rows} == {(1.5, "1970-01-01T00:16:42.500+00:00")}
    assert {(row.number, row.rater, row.wanted) for row in rows} == {(1, office.id("ann"), 1)}


def test_judgments_are_read_as_judgments_with_what_the_draw_recorded(office, make_units):
    office.begin(make_units(3))
    office.judge("ann", 3)
    columns = ("item", "system", "rater", "prompt", "score", "seconds", "time", *DRAW_COLUMNS)
    rows = [{name: getattr(row, name) for name in columns} for row in office.read(scored_rows)]
    frame = read_judgments(pl.DataFrame(rows, schema_overrides={"stratum": pl.String})).frame
    assert frame["probability"].to_list() == [0.1] * 3
    assert sorted(frame["draw"].to_list()) == [1, 2, 3]


def test_the_second_system_of_a_pair_has_the_rest_of_a_preference(office):
    targets = tuple(
        Target(item="i", system=system, side=side, draw=1)
        for side, system in enumerate(("b", "a"), start=1)
    )
    content = {"first": "one", "second": "two"}
    unit = Unit(item="i", content=content, wanted=1, targets=targets, pair=True)
    office.begin([unit], mirrored=("better",))
    lease = office.next("ann")
    office.submit("ann", lease, scores={"better": 0.0, "clear": 1.0})
    rows = {(row.system, row.prompt): row.score for row in office.read(scored_rows)}
    assert rows == {
        ("b", "better"): 0.0,
        ("a", "better"): 1.0,
        ("b", "clear"): 1.0,
        ("a", "clear"): 1.0,
    }
    shown = "a" if lease.shown.swapped else "b"
    assert {
        (row.system, row.prompt): (row.other_system, row.first_system)
        for row in office.read(scored_rows)
    } == {
        ("b", "better"): ("a", shown),
        ("a", "better"): ("b", shown),
        ("b", "clear"): (None, None),
        ("a", "clear"): (None, None),
    }
    [row] = office.read(submission_rows)
    assert row.systems == ("b", "a")
    assert row.swapped == lease.shown.swapped
    assert row.content == lease.shown.content


def test_gold_is_a_submission_but_no_judgment(office, make_units):
    gold = Unit(item="g", content={"output": "gold"}, wanted=0, gold={"fluency": [1]})
    office.begin([*make_units(3), gold], gold_every=2)
    office.judge("ann", 2)
    assert [row.item for row in office.read(scored_rows)] != ["g"]
    assert len(office.read(scored_rows)) == 1
    rows = office.read(submission_rows)
    [known] = [row for row in rows if row.gold is not None]
    assert len(rows) == 2
    assert (known.gold, known.systems) == ({"fluency": [1]}, ())
    counts = office.read(progress, now=office.now)
    assert (counts.units, counts.wanted, counts.judgments, counts.gold) == (3, 3, 1, 1)
    [row] = office.read(rater_rows)
    assert (row.judgments, row.gold, row.earned) == (1, 1, 500_000)


def test_progress_counts_everything(office, make_units):
    office.begin(make_units(4, wanted=2))
    office.judge("ann", 3)
    office.now += 10
    office.judge("bob", 1)
    office.next("bob")
    counts = office.read(progress, now=office.now)
    assert (counts.units, counts.wanted, counts.judgments, counts.counted) == (4, 8, 4, 4)
    assert (counts.held, counts.raters, counts.sessions) == (1, 2, 2)
    assert (counts.spent, counts.surplus, counts.gold) == (1_000_000, 0, 0)
    assert counts.last - counts.first == 10
    assert counts.lacking == 4


def test_a_campaign_without_judgments_has_counts_too(office, make_units):
    office.begin(make_units(2))
    counts = office.read(progress, now=office.now)
    assert (counts.judgments, counts.first, counts.last, counts.spent) == (0, None, None, 0)
    assert office.read(scored_rows) == []
    assert office.read(rater_rows) == []


def test_raters_are_counted_up(office, make_units):
    office.begin(make_units(4))
    office.judge("ann", 2)
    office.id("bob")
    office.write(
        record_tutorial_answer,
        rater=office.id("bob"),
        version="1",
        question="a",
        answer=1,
        correct=False,
        questions=["a"],
        pass_mark=1,
        tries=1,
        bonus=0,
        now=office.now,
    )
    ann, bob = office.read(rater_rows)
    assert (ann.number, ann.judgments, ann.earned, ann.last_seen) == (1, 2, 500_000, office.now)
    assert (bob.number, bob.judgments, bob.earned, bob.last_seen) == (2, 0, 0, None)
    assert (ann.tutorials, bob.tutorials) == ({}, {"1": False})


def test_the_ledger_adds_up(office, make_units):
    office.begin(make_units(4))
    office.judge("ann", 2, pay=micro(0.1))
    office.judge("bob", 1, pay=micro(0.2))
    assert [one.amount for one in office.read(entries)] == [100_000, 100_000, 200_000]
    assert office.read(spent) == 400_000
    assert [(one.number, one.amount) for one in office.read(totals)] == [
        (1, 200_000),
        (2, 200_000),
    ]


def test_the_change_counter_grows_with_everything_there_is_to_show(office, make_units):
    office.begin(make_units(4))
    steps = [
        lambda: office.id("ann"),
        lambda: office.judge("ann"),
        lambda: office.write(
            decide,
            rater=office.id("ann"),
            about="payment",
            verdict="refuse",
            reason="x",
            by="admin",
            now=1,
        ),
        lambda: office.write(change, state="paused", now=1),
    ]
    seen = [office.read(newest)]
    for step in steps:
        step()
        seen.append(office.read(newest))
    assert seen == sorted(set(seen))


def uses(office):
    return office.read(judgment_rows)["use"].to_list()


def test_a_page_that_was_left_open_hides_no_judgment(office, make_units):
    office.begin(make_units(8))
    office.next("ann", window=1)
    for _ in range(3):
        office.submit("bob", office.next("bob", window=1))
    assert uses(office) == ["used"] * 3


def test_judgments_far_ahead_of_what_is_not_back_wait(office, make_units):
    office.begin(make_units(8))
    for name in ("ann", "ben", "cem"):
        office.next(name, window=1)
    for _ in range(3):
        office.submit("bob", office.next("bob", window=1))
    assert uses(office) == ["ahead"] * 3
