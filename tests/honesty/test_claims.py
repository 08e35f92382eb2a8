"""What the page of benchmarks says of the default still comes out, replay by replay, and is said as it is.

The draws of a replay depend on its seed alone, so the same code gives the recorded figures again, and small samples show
a change of a few percent that no count of misses could. Who changes the default on purpose makes the results anew:
``python -m benchmarks.honesty quick --again`` for these, ``python -m benchmarks honesty`` for the page.
"""

import pytest
from benchmarks.honesty import decisions, ours, page, quick, summary
from benchmarks.honesty.drawn_cases import replays
from benchmarks.honesty.kinds import KINDS
from benchmarks.honesty.results import FILE, Results
from benchmarks.honesty.summary import DEFAULT, rows

RESULTS = Results(FILE)
QUICK = {record["cell"]: record for record in RESULTS.of(quick.PART)}
MEANS = rows(RESULTS, "means")
CELLS = [
    pytest.param(record, work, id=record["cell"])
    for record, work in quick.cells(max((one["runs"] for one in QUICK.values()), default=0))
]
OURS = (DEFAULT, "steelyard compare")
# Relative difference of widths and costs, and difference of shares, that rounding and small repairs may make.
TOLERANCE = {"width_ratio": 0.02, "cost": 0.04}
SHARES = {"coverage": 0.04, "joint_coverage": 0.15, "wrong_claims": 0.15}


def changed(fresh, before):
    """What is not as it was recorded."""
    apart = [
        name
        for name, most in TOLERANCE.items()
        if name in before and abs(fresh[name] / before[name] - 1) > most
    ]
    return apart + [
        name
        for name, most in SHARES.items()
        if name in before and abs(fresh[name] - before[name]) > most
    ]


def compared(work, record):
    """What is not as recorded in a cell that is replayed as often."""
    call, one, n, _ = work
    found = call(one, n, record["runs"])["ways"]
    [way] = set(OURS) & set(found)
    return changed(found[way], record["ways"][way])


@pytest.mark.parametrize(("key", "work"), CELLS)
def test_ours_is_as_wide_honest_and_cheap_as_recorded(key, work):
    assert compared(work, QUICK[key["cell"]]) == []


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_intervals_that_are_a_tenth_wider_or_narrower_are_found(monkeypatch, factor):
    def scaled(draw):
        return [
            (middle, middle + factor * (low - middle), middle + factor * (high - middle))
            for middle, low, high in ours.default(draw)
        ]

    monkeypatch.setitem(ours.OURS[0].ways, DEFAULT, scaled)
    key, work = CELLS[0].values
    assert "width_ratio" in compared(work, QUICK[key["cell"]])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_replayed_default_is_what_a_study_estimates(kind):
    [draw] = replays(kind, 20, 1)
    found = [(one.estimate, one.low, one.high) for one in ours.study(draw).estimate()]
    for fast, slow in zip(ours.default(draw), found, strict=True):
        assert fast == pytest.approx(slow, rel=1e-9)


def test_coverage_is_short_only_where_tails_are_long_and_nowhere_much_too_high():
    below, above = summary.off(summary.default_rows(MEANS))
    assert {row["cell"] for row in below} <= summary.LONG_TAILS
    assert all(row["coverage"] - 2 * row["coverage_se"] < 0.975 for row in above)


def test_every_cell_of_the_default_has_a_hundred_campaigns():
    assert min(row["runs"] for row in summary.default_rows(MEANS)) >= 100


def test_the_paragraph_of_readme_is_made_from_the_results():
    text = page.README.read_text(encoding="utf-8")
    assert page.paragraph(RESULTS) in text
    assert page.written(text, RESULTS) == text


def test_off_by_more_than_a_point_means_beyond_two_standard_errors():
    def row(coverage):
        return {"coverage": coverage, "coverage_se": 0.004}

    rows_found = [row(0.93), row(0.933), row(0.967), row(0.969)]
    assert summary.off(rows_found) == ([rows_found[0]], [rows_found[-1]])


def test_a_contest_is_counted_alike_in_the_quick_part():
    contest = decisions.CONTESTS[0]
    assert QUICK[contest.name]["ways"].keys() == set(decisions.WAYS)
