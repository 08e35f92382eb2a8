import polars as pl

from steelyard.campaign.coverage import coverage_notes
from steelyard.tables import read_judgments


def judged(raters_of, items_of):
    rows = [
        {"item": item, "system": system, "rater": rater, "prompt": "p", "score": item % 5}
        for system in raters_of
        for item, rater in zip(items_of[system], raters_of[system], strict=True)
    ]
    return read_judgments(pl.DataFrame(rows))


def test_the_share_of_one_rater_is_compared_between_systems():
    items = {"a": range(100), "b": range(100)}
    raters = {"a": ["r1"] * 63 + ["r2"] * 37, "b": ["r1"] * 27 + ["r2"] * 73}
    [note] = coverage_notes(judged(raters, items))["p"]
    assert note.startswith(
        "systems were judged by other raters: r1 gave 63% of the judgments of a and 27% of those of b"
    )


def test_systems_judged_alike_need_no_note():
    items = {"a": range(60), "b": range(60)}
    raters = {system: [f"r{n % 5}" for n in range(60)] for system in items}
    assert coverage_notes(judged(raters, items)) == {}


def test_items_that_only_one_system_was_judged_on_are_counted():
    items = {"a": range(40), "b": range(30, 70)}
    raters = {system: [f"r{n % 5}" for n in range(40)] for system in items}
    [note] = coverage_notes(judged(raters, items))["p"]
    assert note == (
        "systems were judged on other items: of 70 judged items, 10 for all 2 systems (a 40, b 40)"
    )
