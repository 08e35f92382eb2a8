import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.errors import InvalidArgumentError, InvalidDataError, NotEstimableError
from steelyard.questions.compare import gate_answer
from steelyard.questions.pairs import PairDifference
from steelyard.questions.ranks import groups_of, ranks_of
from steelyard.sampling.sample import sample
from steelyard.tables import read_judgments, read_outputs


def campaign(means, *, size=80, n=40, raters=8, same=0, texts=True, seed=0, shared=True):
    """Systems named A, B, ... with these means; `same` items have one text by all."""
    rng = np.random.default_rng(seed)
    item = rng.normal(size=size)
    outputs, judgments = [], []
    chosen = rng.permutation(size)
    for number, mean in enumerate(means):
        name = "ABCDEFGHIJ"[number]
        for one in range(size):
            row = {"item": f"i{one:03}", "system": name, "length": item[one] + rng.normal()}
            if one < same:
                row["length"] = item[one]
            if texts:
                row["output"] = f"text {one}" + ("" if one < same else f" of {name}")
            outputs.append(row)
        items = chosen[:n] if shared else chosen[n * number : n * (number + 1)]
        for one in items:
            score = item[one] + (0 if one < same else mean) + 0.5 * rng.normal()
            rater = f"r{rng.integers(raters)}"
            judgments.append(
                {
                    "item": f"i{one:03}",
                    "system": name,
                    "rater": rater,
                    "prompt": "overall",
                    "score": score,
                }
            )
    return Study(read_outputs(pl.DataFrame(outputs)), read_judgments(pl.DataFrame(judgments)))


def test_clear_orders_are_ranked_and_cut_into_groups():
    [got] = campaign([3, 3.05, 0]).compare()
    assert [(rank.low, rank.high) for rank in got.ranks] == [(1, 2), (1, 2), (3, 3)]
    assert [set(group) for group in got.groups] == [{"A", "B"}, {"C"}]
    assert got.sentence.startswith("Best: ")
    assert got.sentence.endswith("; C is worst.")
    verdict = {(pair.a, pair.b): pair.verdict for pair in got.pairs}
    assert verdict == {("A", "B"): "undecided", ("A", "C"): "a", ("B", "C"): "a"}


@pytest.mark.parametrize("shared", [True, False])
def test_ranks_show_the_estimates_that_estimate_gives(shared):
    study = campaign([3, 1, 0, 0.5], n=20, shared=shared)
    [got] = study.compare()
    means = {one.system: one.estimate for one in study.estimate()}
    assert {rank.system: rank.estimate for rank in got.ranks} == pytest.approx(means, rel=1e-12)


def test_ranks_are_what_no_pair_rules_out():
    better = {("A", "D"), ("B", "D")}
    assert groups_of("ABCD", better) == (("A", "B", "C", "D"),)
    assert [
        (rank.low, rank.high)
        for rank in ranks_of(dict(zip("ABCD", range(4, 0, -1), strict=True)), better)
    ] == [
        (1, 3),
        (1, 3),
        (1, 4),
        (3, 4),
    ]


def test_a_margin_makes_small_differences_equivalent():
    study = campaign([0.0, 0.02], n=80)
    [got] = study.compare(margin=1.0)
    assert got.pairs[0].verdict == "equivalent"
    [got] = study.compare()
    assert got.pairs[0].verdict == "undecided"


def pair(low, high, **changes):
    values = {
        "a": "A",
        "b": "B",
        "difference": (low + high) / 2,
        "standard_error": (high - low) / 4,
        "low": low,
        "high": high,
        "simultaneous_low": low,
        "simultaneous_high": high,
        "p_value": 0.01 if low * high > 0 else 0.5,
        "verdict": "undecided",
        "n_items": 10,
        "identical_items": 0,
        "n_judgments": 20,
        "more_judgments": None,
    }
    return PairDifference(**values | changes)


@pytest.mark.parametrize(
    ("interval", "gate", "want"),
    [
        ((0.1, 0.5), "better", "holds"),
        ((-0.5, -0.1), "better", "fails"),
        ((-0.1, 0.5), "better", "undecided"),
        ((0.0, 0.0), "better", "fails"),
        ((-0.1, 0.5), "not-worse", "holds"),
        ((-0.5, -0.3), "not-worse", "fails"),
        ((-0.3, 0.3), "not-worse", "undecided"),
        ((-0.1, 0.1), "equivalent", "holds"),
        ((0.3, 0.5), "equivalent", "fails"),
        ((-0.5, -0.3), "equivalent", "fails"),
        ((-0.1, 0.3), "equivalent", "undecided"),
        ((0.0, 0.0), "equivalent", "holds"),
    ],
)
def test_a_gate_answers_from_the_interval(interval, gate, want):
    assert pair(*interval).answer(gate, 0.2, 0.95) == want


def test_an_undecided_gate_says_how_many_more_judgments_would_decide():
    [found] = campaign([0.1, 0], n=40).compare(pair=("A", "B"), metrics=[])
    assert found.pairs[0].verdict == "undecided"
    answer, words = gate_answer([found], "better", None)
    assert answer == "undecided"
    assert f"about {found.pairs[0].more_judgments} more judgments" in words
    assert "go on with `steelyard monitor`" in words
    one = found.pairs[0]
    reach = (one.simultaneous_high - one.simultaneous_low) / 2
    # fewer than of an endless pool, since nothing of a pool is left to know once it is judged
    assert 80 < one.more_judgments < 1.1 * 80 * ((reach / one.difference) ** 2 - 1)


def test_a_decided_pair_needs_no_more_and_a_hopeless_one_has_no_forecast():
    [got] = campaign([3, 0]).compare()
    assert got.pairs[0].more_judgments == 0
    assert gate_answer([got], "better", None) == ("holds", "gate better holds")
    assert gate_answer([got], "equivalent", 0.1)[0] == "fails"


def test_identical_outputs_are_found_by_their_texts():
    [got] = campaign([0.5, 0.0], same=60).compare()
    assert got.pairs[0].identical_items == 60
    [without] = campaign([0.5, 0.0], same=60, texts=False).compare()
    assert without.pairs[0].identical_items == 0


def test_a_copy_is_said_to_be_identical():
    [got] = campaign([0, 0, 1], same=80).compare()
    one = got.pairs[0]
    assert (one.low, one.high, one.verdict, one.words) == (0, 0, "equivalent", "identical")
    assert "A and B have identical outputs" in got.notes


def test_systems_judged_on_different_items_are_compared():
    [got] = campaign([1, 0], shared=False).compare()
    assert got.pairs[0].n_items == 0
    assert got.pairs[0].low < 1 < got.pairs[0].high


def test_a_paired_draw_is_compared_without_ranks():
    study = campaign([1, 0], same=40)
    drawn = sample(study.outputs, 20, pair=("A", "B"), seed=0).frame
    rng = np.random.default_rng(0)
    judgments = drawn.with_columns(
        prompt=pl.lit("overall"),
        rater=pl.Series(rng.choice(["r", "s"], drawn.height)),
        score=pl.Series((drawn["system"] == "A") + rng.normal(size=drawn.height) / 2),
    )
    [got] = Study(study.outputs, read_judgments(judgments)).compare()
    one = got.pairs[0]
    assert (one.n_items, one.identical_items, got.ranks) == (20, 40, ())
    assert one.low < 0.5 < one.high
    assert any("paired draw" in note for note in got.notes)
    changed = study.outputs.rows().with_columns(
        output=pl.col("item").cast(pl.String) + pl.col("system")
    )
    other = Study(read_outputs(changed), read_judgments(judgments))
    with pytest.raises(InvalidDataError, match=r"differ on 80 of 80 items, and on 40 of 80 when"):
        other.compare()


def test_outputs_that_were_drawn_by_strata_are_compared_as_they_were_drawn():
    """The items of stratum t were drawn half as often, and only there is A better."""
    study = campaign([0, 0], size=120)
    rng = np.random.default_rng(0)
    by_stratum = {
        "s": [f"i{one:03}" for one in range(40)],
        "t": [f"i{one:03}" for one in range(40, 120)],
    }
    rows = [
        {
            "item": item,
            "system": system,
            "rater": f"r{rng.integers(8)}",
            "prompt": "overall",
            "score": 2.0 * (system == "A" and stratum == "t") + 0.3 * rng.normal(),
            "probability": 20 / len(items),
            "stratum": stratum,
            "stratum_size": len(items),
        }
        for stratum, items in by_stratum.items()
        for item in items[:20]
        for system in "AB"
    ]
    drawn = Study(study.outputs, read_judgments(pl.DataFrame(rows)))
    [one] = drawn.compare()[0].pairs
    assert one.difference == pytest.approx(2 * 80 / 120, abs=0.2)
    assert one.low < 2 * 80 / 120 < one.high
    means = {one.system: one.estimate for one in drawn.estimate()}
    assert one.difference == pytest.approx(means["A"] - means["B"], abs=1e-9)


def test_raters_who_each_judged_one_system_are_exactly_these():
    study = campaign([1, 0, 0, 0, 0, 0])
    rows = study.judgments.frame.with_columns(rater=pl.col("system"))
    # F was judged by B's rater: still nothing shows how raters differ.
    for one in (rows, rows.with_columns(rater=pl.col("system").replace("F", "B"))):
        apart = Study(study.outputs, read_judgments(one))
        [got] = apart.compare()
        assert got.about.raters == "exactly these raters"
        assert any("each system was judged by another rater" in note for note in got.notes)
        assert len(got.pairs) == 15
        with pytest.raises(NotEstimableError, match="each system was judged by another rater"):
            apart.compare(raters="random")


def test_raters_of_several_systems_or_several_of_one_show_how_raters_differ():
    study = campaign([1, 0], raters=1)
    shared = study.judgments.frame
    second = pl.when(pl.col("system") == "A").then(pl.lit("x")).otherwise(pl.lit("y"))
    own = shared.with_columns(rater=second + pl.int_range(pl.len()).mod(3).cast(pl.String))
    for rows in (own, shared.with_columns(rater="rater" + pl.Series(["0", "1"] * 40))):
        [got] = Study(study.outputs, read_judgments(rows)).compare()
        assert got.about.raters == "raters like these"


def test_a_system_with_one_judgment_takes_no_ranks_from_the_others():
    study = campaign([3, 0, 0, 0])
    rows = study.judgments.frame
    one = rows.filter(pl.col("system") == "D").head(1)
    [got] = Study(
        study.outputs, read_judgments(pl.concat([rows.filter(pl.col("system") != "D"), one]))
    ).compare()
    best = got.ranks[0]
    assert (best.system, best.low, best.high) == ("A", 1, 1)
    assert {rank.system: rank.high for rank in got.ranks[1:]} == {"B": 3, "C": 3}
    assert got.sentence.startswith("A is best, better than C by 2.8")
    [about] = [note for note in got.notes if note.startswith("D")]
    assert about == (
        "D is left out: an interval needs at least 2 judged outputs; got 1: judge more outputs"
    )


def test_the_order_of_rows_does_not_matter():
    study = campaign([1, 0, 0.5], same=20)
    turned = Study(
        read_outputs(study.outputs.rows().sample(fraction=1, shuffle=True, seed=1)),
        read_judgments(study.judgments.frame.sample(fraction=1, shuffle=True, seed=2)),
    )
    one, other = study.compare(systems=["A", "B", "C"]), turned.compare(systems=["A", "B", "C"])
    for a, b in zip(one[0].pairs, other[0].pairs, strict=True):
        assert (a.a, a.b) == (b.a, b.b)
        assert a.simultaneous_low == pytest.approx(b.simultaneous_low, abs=1e-9)


def test_bad_questions_are_named():
    study = campaign([1, 0])
    with pytest.raises(InvalidArgumentError, match="system 'Z' has no judgments"):
        study.compare(pair=("A", "Z"))
    with pytest.raises(InvalidArgumentError, match="'A' twice"):
        study.compare(pair=("A", "A"))
    with pytest.raises(InvalidArgumentError, match="`margin` must be a positive number; got -1"):
        study.compare(margin=-1)
    with pytest.raises(InvalidArgumentError, match="exclude each other"):
        study.compare(pair=("A", "B"), baseline="A")
    with pytest.raises(InvalidArgumentError, match="nometric"):
        study.compare("nometric")


def in_documents(study, size=4):
    """The same study, with a document for every `size` items in turn."""
    outputs = study.outputs.rows().with_columns(
        document=pl.col("item").str.slice(1).cast(pl.Int64) // size
    )
    return Study(
        read_outputs(outputs, metrics=list(study.metrics)), read_judgments(study.judgments.frame)
    )


def test_documents_are_counted_when_they_are_named():
    study = in_documents(campaign([1, 0]))
    [plain] = study.compare(pair=("A", "B"))
    named = read_outputs(
        study.outputs.rows(), columns={"cluster": "document"}, metrics=list(study.metrics)
    )
    [got] = Study(named, study.judgments).compare(pair=("A", "B"))
    assert got.pairs[0].difference == pytest.approx(plain.pairs[0].difference, abs=0.1)
    assert got.pairs[0].standard_error != plain.pairs[0].standard_error


def test_clusters_must_be_of_items():
    study = campaign([1, 0])
    outputs = study.outputs.rows().with_columns(
        cluster=pl.concat_str("system", pl.col("item").str.slice(0, 3))
    )
    with pytest.raises(InvalidDataError, match="clusters are of items, the same for all systems"):
        Study(read_outputs(outputs), study.judgments).compare()
