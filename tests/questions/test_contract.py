"""What must hold of the answers about any campaign, tried on random ones."""

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from random_campaigns import Answer, Kind, furthest, kinds
from steelyard.errors import NotEstimableError
from steelyard.study import Study

# a failing campaign is shown as it is: to shrink one takes minutes
few = settings(max_examples=12, derandomize=True, phases=[Phase.explicit, Phase.generate])
TINY = 1e-8


def answer(outputs, judgments, **options):
    """The answer, or the reason that there is none."""
    try:
        return Answer.of(outputs, judgments, **options)
    except NotEstimableError as error:
        return str(error)


def assert_same(kind, change, names=None, **affine):
    """Assert that a change of the tables changes no number."""
    outputs, judgments = kind.tables()
    want, got = answer(outputs, judgments), answer(*change(outputs, judgments))
    if isinstance(want, str):
        assert isinstance(got, str)
        return
    assert furthest(want.numbers(), got.numbers(names, **affine)) < TINY


@few
@given(kinds(), st.integers(0, 100))
def test_the_order_of_rows_does_not_matter(kind, seed):
    def shuffled(*tables):
        return [one.sample(fraction=1, shuffle=True, seed=seed) for one in tables]

    assert_same(kind, shuffled)


def test_the_order_of_rows_does_not_matter_where_copies_have_metrics_that_differ():
    kind = Kind(0, k=4, n=6, texts=True, own_metrics=True)
    assert_same(kind, lambda outputs, judgments: (outputs, judgments.reverse()))


@pytest.mark.parametrize("column", ["item", "system", "rater"])
@few
@given(kind=kinds(raters=3), seed=st.integers(0, 100))
def test_names_do_not_matter(column, kind, seed):
    outputs, judgments = kind.tables()
    old = judgments[column].unique(maintain_order=True).to_list()
    if column == "item":
        old = outputs[column].unique(maintain_order=True).to_list()
    new = [f"{column}-{one}" for one in np.random.default_rng(seed).permutation(len(old))]
    names = dict(zip(old, new, strict=True))

    def renamed(*tables):
        return [
            one.with_columns(pl.col(column).replace(names)) if column in one.columns else one
            for one in tables
        ]

    assert_same(kind, renamed, names=names if column == "system" else None)


@pytest.mark.parametrize(("factor", "shift"), [(3.7, 11.0), (-2.0, 100.0), (1e-9, 0), (1e9, 1e9)])
@few
@given(kind=kinds())
def test_the_scale_of_scores_does_not_matter(factor, shift, kind):
    if kind.shape == "shares":  # that 0 and 1 are ends is known of 0 and 1 only
        return

    def mapped(outputs, judgments):
        return outputs, judgments.with_columns(pl.col("score") * factor + shift)

    assert_same(kind, mapped, factor=factor, shift=shift)


@few
@given(kinds(p=2), st.sampled_from([(-3.0, 5.0), (1e-9, 0.0), (1e9, -1e9)]))
def test_the_scale_of_metrics_does_not_matter(kind, scale):
    factor, shift = scale

    def mapped(outputs, judgments):
        return outputs.with_columns(pl.col("m0") * factor + shift, pl.col("m1") * -7 + 1), judgments

    assert_same(kind, mapped)


@few
@given(kinds(raters=3), st.integers(2, 4))
def test_judgments_in_several_files_are_those_of_one(tmp_path_factory, kind, parts):
    folder = tmp_path_factory.mktemp("parts")

    def split(outputs, judgments):
        for part in range(parts):
            judgments[part::parts].write_csv(folder / f"{part}.csv")
        frames = [pl.read_csv(folder / f"{part}.csv") for part in range(parts)]
        return outputs, pl.concat(frames)

    assert_same(kind, split)


@few
@given(kinds())
def test_a_table_never_contradicts_itself(kind):
    found = answer(*kind.tables())
    if isinstance(found, str):
        return
    means = {name: one.estimate for name, one in found.systems.items()}
    ranks = {one.system: one for one in found.comparison.ranks}
    place = {
        one: number for number, those in enumerate(found.comparison.groups, 1) for one in those
    }
    assert [one.system for one in found.comparison.ranks] == sorted(means, key=lambda s: -means[s])
    for name, one in found.systems.items():
        assert one.low <= one.estimate <= one.high
        assert one.low < one.high
        assert one.degrees_of_freedom > 0
        # estimate and compare show the same
        assert (one.rank_low, one.rank_high) == (ranks[name].low, ranks[name].high)
        assert one.estimate == ranks[name].estimate
        assert one.group == place[name]
    for (a, b), pair in found.pairs.items():
        assert pair.difference == pytest.approx(means[a] - means[b], abs=1e-9)
        assert pair.low <= pair.difference <= pair.high
        assert (pair.standard_error > 0) == (pair.low < pair.high)
        won = {"a": 1, "b": -1}.get(pair.verdict, 0)
        assert won in {0, np.sign(pair.difference)}
        assert (pair.p_value <= 0.05) == bool(won)
        assert won * pair.simultaneous_low >= 0 if won > 0 else won * pair.simultaneous_high >= 0
        clear = pair.simultaneous_low > 0 or pair.simultaneous_high < 0
        assert won or not clear
        better, worse = (a, b) if won > 0 else (b, a)
        if won:
            assert ranks[better].low < ranks[worse].high
            assert place[better] <= place[worse]
        if place[a] != place[b]:
            assert won


@few
@given(kinds(k=2))
def test_one_pair_is_as_sure_alone_as_together(kind):
    found = answer(*kind.tables())
    if isinstance(found, str):
        return
    [pair] = found.pairs.values()
    if pair.verdict == "undecided":
        assert pair.simultaneous_low == pytest.approx(pair.low)
        assert pair.simultaneous_high == pytest.approx(pair.high)
        assert pair.low <= 0 <= pair.high
    elif pair.verdict in {"a", "b"}:
        assert pair.low >= 0 or pair.high <= 0


@few
@given(kinds(), st.sampled_from([0.8, 0.9, 0.99]))
def test_other_levels_keep_the_estimates_and_move_the_ends(kind, level):
    found, other = answer(*kind.tables()), answer(*kind.tables(), level=level)
    if isinstance(found, str):
        return
    for name, one in found.systems.items():
        again = other.systems[name]
        assert again.estimate == one.estimate
        assert (again.high - again.low <= one.high - one.low) == (level < 0.95)


@few
@given(st.integers(0, 1000), st.integers(3, 30))
def test_one_system_without_metrics_has_students_error(seed, n):
    score = np.random.default_rng(seed).normal(size=n)
    rows = {"item": range(n), "system": "s", "prompt": "p", "score": score}
    pool = pl.DataFrame({"item": range(5 * n), "system": "s", "flat": 0.0})
    [got] = Study.read(pool, pl.DataFrame(rows)).estimate()
    assert got.estimate == pytest.approx(score.mean(), abs=1e-9)
    assert got.standard_error == pytest.approx(score.std(ddof=1) / n**0.5, rel=1e-6)
    assert got.degrees_of_freedom == pytest.approx(n - 1, rel=1e-6)
    symmetric = np.concatenate([score, -score])
    rows = {"item": range(2 * n), "system": "s", "prompt": "p", "score": symmetric}
    [got] = Study.read(pool, pl.DataFrame(rows)).estimate()
    reach = student.ppf(0.975, 2 * n - 1) * symmetric.std(ddof=1) / (2 * n) ** 0.5
    assert (got.low, got.high) == pytest.approx((-reach, reach), rel=1e-4)


@few
@given(st.integers(0, 1000), st.integers(1, 4), st.integers(2, 4))
def test_balanced_complete_data_have_plain_means(seed, raters, k):
    rng = np.random.default_rng(seed)
    cells = [(i, s, r) for i in range(7) for s in range(k) for r in range(raters)]
    item, system, rater = zip(*cells, strict=True)
    score = rng.normal(size=len(cells)) + np.array(system) + np.array(rater)
    judged = pl.DataFrame({"item": item, "system": system, "rater": rater, "score": score})
    pool = pl.DataFrame(
        [{"item": i, "system": s, "flat": 0.0} for i in range(20) for s in range(k)]
    )
    found = Study.read(pool, judged.with_columns(prompt=pl.lit("p"))).estimate()
    means = dict(judged.group_by("system").agg(pl.col("score").mean()).iter_rows())
    assert {int(one.system): one.estimate for one in found} == pytest.approx(means, abs=1e-8)


@few
@given(kinds(unjudged=0, raters=0, same=True, texts=False))
def test_a_pool_judged_whole_keeps_its_plain_means_where_nobody_knows_the_raters(kind):
    found = answer(*kind.tables())
    if isinstance(found, str):
        return
    for one in found.systems.values():
        assert one.estimate == pytest.approx(one.baseline.estimate, abs=1e-6)


@few
@given(kinds(unjudged=0, raters=3, same=True, texts=False))
def test_a_pool_judged_whole_moves_no_mean_by_more_than_leniency_explains(kind):
    outputs, judgments = kind.tables()
    found = answer(outputs, judgments)
    if isinstance(found, str):
        return
    # what raters differ in their own means, with the noise of those
    by_rater = judgments.group_by("rater").agg(pl.col("score").mean(), pl.len())
    lenient = by_rater["score"].max() - by_rater["score"].min() if by_rater.height > 1 else 0
    for one in found.systems.values():
        assert abs(one.estimate - one.baseline.estimate) <= max(lenient, 0) + 1e-6


BLANK = {
    "empty": "",
    "spaces": "   ",
    "placeholder": "[output not released]",
    "nothing": "N/A",
}


@pytest.mark.parametrize("word", BLANK.values(), ids=BLANK.keys())
@pytest.mark.parametrize("same", [True, False])
def test_texts_that_are_none_share_nothing(word, same):
    outputs, judgments = Kind(3, k=3, n=9, unjudged=20, p=2, same=same).tables()
    want = Answer.of(outputs, judgments)
    got = Answer.of(outputs.with_columns(output=pl.lit(word)), judgments)
    assert furthest(want.numbers(), got.numbers()) < TINY
    assert not any(pair.identical for pair in got.pairs.values())


def test_texts_of_which_two_in_five_are_blank_share_nothing():
    outputs, judgments = Kind(3, k=3, n=10, unjudged=20, p=2).tables()
    row = pl.int_range(pl.len())
    # real texts have nothing in common: a run of one letter each
    text = pl.when(row % 5 < 2).then(pl.lit("")).otherwise(row.map_elements(run, pl.String))
    got = Answer.of(outputs.with_columns(output=text), judgments)
    want = Answer.of(outputs, judgments)
    assert furthest(want.numbers(), got.numbers()) < TINY


def run(number):
    """Six of one letter that no other number has."""
    return chr(0x4E00 + number) * 6


def test_identical_texts_that_raters_scored_apart_stay_within_their_plain_interval():
    outputs, judgments = Kind(5, k=2, n=12, p=0, raters=0, texts=True).tables()
    shared = outputs.with_columns(output=pl.format("the one answer to {}", "item"))
    apart = judgments.with_columns(pl.col("score") + 2.0 * (pl.col("system") == "s0"))
    found = Study.read(shared, apart).estimate()
    for one in found:
        assert one.low <= found[0].estimate <= one.high
    assert any("24 judgments of 12 texts by s0 and s1" in note for note in found.notes)


def test_a_real_text_that_is_shared_is_one_output():
    outputs, judgments = Kind(5, k=2, n=12, p=0, raters=0).tables()
    shared = outputs.with_columns(output=pl.format("the one answer to {}", "item"))
    found = Answer.of(shared, judgments)
    [pair] = found.pairs.values()
    assert (pair.difference, pair.low, pair.high, pair.verdict) == (0, 0, 0, "equivalent")


def test_what_only_shared_texts_show_is_refused():
    # nobody judged a text that a or b wrote alone
    rng = np.random.default_rng(0)
    texts = {
        (s, i): f"question {i}: {'all' if i < 20 else s} {i * 77}" for s in "abc" for i in range(40)
    }
    items = {"a": range(10), "b": range(10, 20), "c": range(20, 40)}
    outputs = [{"item": i, "system": s, "output": text} for (s, i), text in texts.items()]
    judgments = [
        {"item": i, "system": s, "prompt": "p", "score": rng.normal()}
        for s in "abc"
        for i in items[s]
    ]
    study = Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))
    found = study.estimate()
    assert [one.system for one in found] == ["c"]
    assert {system for _, system in found.left_out} == {"a", "b"}
    with pytest.raises(NotEstimableError, match="only texts that other systems wrote too"):
        study.compare()


def strata(system, score, sizes):
    """A pool judged whole, by strata that lie one after the other."""
    edges = np.cumsum([0, *sizes])
    return [
        {
            "item": i,
            "system": system,
            "prompt": "p",
            "score": one,
            "probability": 1.0,
            "stratum": f"h{(h := int(np.searchsorted(edges, i, side='right')) - 1)}",
            "stratum_size": sizes[h],
        }
        for i, one in enumerate(score)
    ]


@pytest.mark.parametrize("options", [{}, {"raters": "fixed"}, {"target": "superpopulation"}])
def test_a_pool_judged_whole_by_strata_is_answered(options):
    rng = np.random.default_rng(1)
    rows = [row for s in "ab" for row in strata(s, rng.normal(size=40), (3, 37))]
    pool = pl.DataFrame([{"item": i, "system": s, "flat": 0.0} for s in "ab" for i in range(40)])
    for one in Study.read(pool, pl.DataFrame(rows)).estimate(**options):
        assert one.low < one.estimate < one.high


def test_new_outputs_are_less_sure_than_these_with_strata_too():
    rng = np.random.default_rng(1)
    score = rng.normal(size=40)
    pool = pl.DataFrame({"item": range(40), "system": "a", "m": score + rng.normal(size=40)})
    study = Study.read(pool, pl.DataFrame(strata("a", score, (10, 30))))
    [these], [new] = study.estimate(), study.estimate(target="superpopulation")
    assert new.standard_error > these.standard_error
    assert "new outputs" in str(new.about)


def test_two_systems_of_which_one_is_always_right():
    score = {"a": [1, 1, 1, 1], "b": [0, 1, 1, 0]}
    rows = [
        {"item": i, "system": s, "prompt": "p", "score": one}
        for s, own in score.items()
        for i, one in enumerate(own)
    ]
    pool = pl.DataFrame([{"item": i, "system": s, "flat": 0.0} for s in "ab" for i in range(6)])
    found = Answer.of(pool, pl.DataFrame(rows))
    assert found.systems["a"].low < 0.7
    assert found.systems["a"].high == 1
    assert found.pairs["a", "b"].verdict == "undecided"


@pytest.mark.parametrize("level", [0.8, 0.9])
def test_a_p_value_that_equals_what_is_allowed_is_read_the_same_everywhere(level):
    for seed in (109, 110, 111):
        rng = np.random.default_rng(seed)
        rows = [
            {"item": i, "system": s, "prompt": "p", "score": z + 0.35 * q}
            for q, s in enumerate("abcd")
            for i, z in enumerate(rng.normal(size=10))
        ]
        pool = pl.DataFrame(
            [{"item": i, "system": s, "flat": 0.0} for s in "abcd" for i in range(60)]
        )
        found = Answer.of(pool, pl.DataFrame(rows), level=level)
        for pair in found.pairs.values():
            assert (pair.verdict in {"a", "b"}) == (pair.better(level) is not None)
