import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from scipy import stats

from steelyard import Study
from steelyard.campaign.slices import Slices
from steelyard.errors import InvalidArgumentError, NotEstimableError, UnknownNameError
from steelyard.questions.compare import gate_answer
from steelyard.tables import read_outputs

NEW = {"target": "superpopulation", "raters": "fixed", "metrics": []}
MIX = {"news": 0.2, "blogs": 0.5, "mail": 0.3}


def campaign(means=(0.0,), *, size=150, n=60, seed=0, raters=6):
    """Systems named a, b, ... in three topics; the first 6 items have none."""
    rng = np.random.default_rng(seed)
    topics = np.where(
        np.arange(size) < 6, None, np.array(["news", "news", "blogs", "mail"] * size)[:size]
    )
    item = rng.normal(size=size)
    outputs, judgments = [], []
    chosen = rng.permutation(size)[:n]
    for name, mean in zip("abcd", means, strict=False):
        metric = item + rng.normal(size=size)
        for one in range(size):
            row = {"item": one, "system": name, "topic": topics[one], "rouge": metric[one]}
            outputs.append(row | {"length": 10 + one % 30, "output": f"{one} by {name}"})
        for one in chosen:
            score = mean + item[one] + (topics[one] == "news") + rng.normal()
            row = {"item": one, "system": name, "rater": f"r{rng.integers(raters)}"}
            judgments.append(row | {"prompt": "p", "score": score})
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments), metrics=["rouge"])


def scores(study, system="a"):
    """The scores of one system by topic, as arrays by item."""
    topics = study.outputs.rows().select("item", "system", "topic")
    rows = study.judgments.frame.filter(pl.col("system") == system).join(
        topics, on=["item", "system"]
    )
    return {
        topic: rows.filter(pl.col("topic") == topic).sort("item")["score"].to_numpy()
        for topic in MIX
    }


def test_a_slice_has_its_own_outputs_judgments_and_mean():
    study = campaign()
    found = study.estimate(by="topic", **NEW)
    assert [one.slice for one in found] == ["blogs", "mail", "news"]
    for topic, own in scores(study).items():
        got = found.of_slice(topic)["a"]
        low, high = stats.t.interval(0.95, len(own) - 1, own.mean(), stats.sem(own))
        assert low < got.estimate < high
        assert got.estimate == pytest.approx(own.mean(), abs=0.1)
        assert (got.n_outputs, got.pool_size) == (len(own), {"news": 72}.get(topic, 36))


def test_a_mix_is_the_weighted_sum_of_its_slices():
    study = campaign((0.0, 0.5))
    found = study.estimate(by="topic", **NEW)
    mixed = study.estimate(by="topic", weights=MIX, **NEW)
    for got in mixed:
        parts = {topic: found.of_slice(topic)[got.system].estimate for topic in MIX}
        want = sum(MIX[topic] * part for topic, part in parts.items())
        assert got.estimate == pytest.approx(want, abs=1e-9)
        assert got.slice == "blogs=0.5, mail=0.3, news=0.2"
        assert got.n_outputs == sum(found.of_slice(topic)[got.system].n_outputs for topic in MIX)


def test_the_pools_own_mix_with_a_control_is_close_to_the_whole():
    study = campaign((0.0, 0.5, 1.0), n=120)
    whole = study.estimate()
    own = {"news": 72 / 144, "blogs": 36 / 144, "mail": 36 / 144}
    for one, other in zip(whole, study.estimate(by="topic", weights=own), strict=True):
        assert other.estimate == pytest.approx(one.estimate, abs=0.05)
        assert other.standard_error == pytest.approx(one.standard_error, rel=0.25)


def test_a_control_is_centred_at_the_pool_of_its_slice():
    """The metric shows all of the score, so a slice is known exactly, however it was drawn."""
    rng = np.random.default_rng(0)
    metric = rng.normal(size=(2, 400))
    topic = np.where(metric[0] > 0, "high", "low")
    outputs = pl.DataFrame(
        {
            "item": list(range(400)) * 2,
            "system": ["a"] * 400 + ["b"] * 400,
            "topic": list(topic) * 2,
            "rouge": metric.ravel(),
        }
    )
    items = rng.permutation(400)[:100]
    judgments = pl.DataFrame(
        {
            "item": list(items) * 2,
            "system": ["a"] * 100 + ["b"] * 100,
            "rater": "r",
            "prompt": "p",
            "score": metric[:, items].ravel() + 0.01 * rng.normal(size=200),
        }
    )
    # named, because it agrees closer with the scores than people do
    study = Study.read(outputs, judgments, metrics=["rouge"])
    for one in study.estimate(by="topic"):
        truth = metric["ab".index(one.system)][topic == one.slice].mean()
        assert one.estimate == pytest.approx(truth, abs=0.02)
    for one in study.compare(by="topic"):
        truth = (metric[0] - metric[1])[topic == one.slice].mean()
        assert one.pairs[0].difference == pytest.approx(truth, abs=0.03)


@pytest.mark.parametrize("weights", [None, MIX])
def test_a_difference_is_that_of_the_two_means_of_its_slice(weights):
    study = campaign((0.0, 0.5))
    means = study.estimate(by="topic", weights=weights)
    for one in study.compare(by="topic", weights=weights):
        [got] = one.pairs
        a, b = (means.of_slice(one.slice)[system].estimate for system in "ab")
        assert got.difference == pytest.approx(a - b, abs=1e-9)
        assert {rank.system for rank in one.ranks} == {"a", "b"}


def test_intervals_hold_in_all_slices_together():
    study = campaign((0.0, 0.5))
    found = {one.slice: one.pairs[0] for one in study.compare(by="topic", **NEW)}
    a, b = scores(study, "a"), scores(study, "b")
    for topic, got in found.items():
        assert got.simultaneous_low < got.low
        assert got.n_items == len(a[topic])
        interval = stats.ttest_rel(a[topic], b[topic]).confidence_interval()
        assert interval.low < got.difference < interval.high


def test_a_gate_must_hold_in_every_slice():
    study = campaign((0.0, 3.0))
    found = study.compare(by="topic", pair=("b", "a"))
    assert gate_answer(found, "better", None) == (
        "holds",
        "gate better holds in each of blogs, mail, news",
    )
    answer, words = gate_answer(study.compare(by="topic", pair=("a", "b")), "better", None)
    assert answer == "fails"
    assert words.startswith("gate better fails: prompt p, blogs: a against b")


def test_outputs_without_a_slice_and_the_number_of_intervals_are_said():
    found = campaign((0.0, 1.0)).estimate(by="topic")
    assert found.notes == (
        "12 of 300 outputs have no topic and are in no slice",
        (
            "6 intervals, each at 95%: on average 0.3 of them miss; level 0.9917 makes all hold "
            "together (Bonferroni)"
        ),
    )
    assert found.to_frame()["slice"].to_list() == ["blogs", "blogs", "mail", "mail", "news", "news"]
    with pytest.raises(UnknownNameError, match="no estimate is of slice 'sport'; there are: blogs"):
        found.of_slice("sport")


def test_a_slice_with_too_few_judgments_is_left_out_and_the_others_stay():
    study = campaign((0.0, 1.0))
    rare = study.outputs.rows().with_columns(
        topic=pl.when(pl.col("item").is_in(study.judgments.frame["item"][:1].to_list()))
        .then(pl.lit("rare"))
        .otherwise("topic")
    )
    cut = Study.read(rare, study.judgments.frame, metrics=["rouge"])
    found = cut.estimate(by="topic")
    assert {one.slice for one in found} == set(MIX)
    assert sum("rare: left out:" in note for note in found.notes) == 2
    compared = cut.compare(by="topic")
    assert [one.slice for one in compared] == ["blogs", "mail", "news"]
    assert any(
        note.startswith("a, p, rare: left out: an interval needs at least 2 judged outputs; got 1")
        for note in compared[0].notes
    )
    with pytest.raises(
        NotEstimableError, match="rare: an interval needs at least 2 judged outputs; got 1"
    ):
        cut.estimate(by="topic", weights=dict.fromkeys(MIX, 0.2) | {"rare": 0.4})
    assert len(cut.estimate(by="topic", weights=MIX | {"rare": 0})) == 2


@pytest.mark.parametrize(
    ("by", "bands", "names"),
    [
        ("length", None, ("up to 20", "20 to 30", "over 30")),
        ("length", [15], ("up to 15", "over 15")),
        ("length", [15, 100], ("up to 15", "15 to 100")),
        ("number", None, ("1", "2", "10")),
        ("score", None, ("0.5", "1")),
        ("sure", None, ("false", "true")),
        ("topic", None, ("x", "y")),
    ],
)
def test_columns_are_cut_by_their_values_or_into_bands(by, bands, names):
    outputs = pl.DataFrame(
        {
            "item": range(31),
            "system": "a",
            "length": range(10, 41),
            "number": [2, 10, 1] * 10 + [None],
            "score": [0.5, 1.0, float("nan")] * 10 + [None],
            "sure": [True, False] * 15 + [None],
            "topic": ["y", "x", " "] * 10 + [None],
        }
    )
    got = Slices.of(read_outputs(outputs), by, bands=bands)
    assert got.names == names
    if by == "length" and bands == [15]:
        assert got.rows["slice"][5:7].to_list() == [0, 1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"by": "colour"},
            "`by` must be a column of outputs that divides its outputs; got 'colour'",
        ),
        ({"by": "item"}, "got 'item'"),
        ({"by": "topic", "bands": [3]}, "`bands` need a column of numbers; 'topic' holds texts"),
        ({"by": "length", "bands": [5, 3]}, "`bands` must be rising numbers"),
        ({"bands": [3]}, "`bands` needs `by`"),
        ({"weights": MIX}, "`weights` needs `by`"),
        ({"by": "topic", "weights": {"news": 1.0}}, "`weights` must name all slices; 'blogs' is"),
        ({"by": "topic", "weights": MIX | {"sport": 0}}, "`weights` names 'sport'"),
        (
            {"by": "topic", "weights": MIX | {"news": 0.3}},
            "`weights` must sum to 1; they sum to 1.1",
        ),
        ({"by": "topic", "weights": MIX | {"news": -0.2}}, "got -0.2 for 'news'"),
    ],
)
@pytest.mark.parametrize("verb", ["estimate", "compare"])
def test_cuts_that_make_no_sense_are_refused(options, words, verb):
    with pytest.raises(InvalidArgumentError, match=words):
        getattr(campaign((0.0, 1.0)), verb)(**options)


def test_too_many_values_are_no_slices():
    study = campaign()
    outputs = study.outputs.rows().with_columns(topic=pl.col("output"))
    with pytest.raises(InvalidArgumentError, match="into 1 to 50 slices; column 'topic' has 150"):
        Study.read(outputs, study.judgments.frame).estimate(by="topic")


def test_slices_need_a_simple_draw():
    study = campaign()
    rows = study.judgments.frame.with_columns(probability=pl.Series(np.tile([0.2, 0.4], 30)))
    drawn = Study.read(study.outputs.rows(), rows, metrics=["rouge"])
    with pytest.raises(NotEstimableError, match="slices need a simple draw"):
        drawn.estimate(by="topic")


def test_clusters_may_lie_in_several_slices():
    study = campaign((0.0, 1.0))
    rows = study.outputs.rows().with_columns(cluster=pl.col("item").cast(pl.Int64) // 3)
    cut = Study.read(rows, study.judgments.frame, metrics=["rouge"])
    assert len(cut.estimate(by="topic")) == 6
    [mixed] = cut.compare(by="topic", weights=MIX)
    assert mixed.pairs[0].low < -1 < mixed.pairs[0].high


def test_a_slice_of_identical_outputs_differs_by_exactly_zero():
    study = campaign((0.0, 1.0))
    same = study.outputs.rows().with_columns(
        output=pl.when(pl.col("topic") == "news")
        .then(pl.lit("text of ") + pl.col("item").cast(pl.String))
        .otherwise("output"),
        rouge=pl.when(pl.col("topic") == "news").then(0.0).otherwise("rouge"),
    )
    found = Study.read(same, study.judgments.frame, metrics=["rouge"]).compare(by="topic")
    news = next(one for one in found if one.slice == "news").pairs[0]
    assert (news.low, news.high, news.words) == (0, 0, "identical")
    assert all(one.pairs[0].standard_error > 0 for one in found if one.slice != "news")


def test_a_column_that_differs_between_systems_is_said():
    study = campaign((0.0, 1.0))
    rows = study.outputs.rows().with_columns(
        length=pl.when(pl.col("system") == "a").then("length").otherwise(40 - pl.col("length"))
    )
    [first, *_] = Study.read(rows, study.judgments.frame, metrics=["rouge"]).compare(by="length")
    assert any("length differs between systems on the same item" in note for note in first.notes)


def test_a_slice_is_named_in_words_and_pictures():
    study = campaign((0.0, 1.0))
    found = study.estimate(by="topic")
    assert str(found[0].about) == "these 36 outputs (blogs), by raters like these"
    labels = [text.get_text() for text in found.plot(Figure().add_subplot()).get_yticklabels()]
    assert labels[:2] == ["a, blogs", "b, blogs"]
    [mixed] = study.compare(by="topic", weights=MIX)
    assert str(mixed.about) == (
        "these outputs (blogs=0.5, mail=0.3, news=0.2), by raters like these"
    )


def test_remarks_on_metrics_and_on_the_draw_are_made_for_slices_too():
    study = campaign((0.0, 1.0))
    rows = study.outputs.rows().with_columns(flat=1.0, long=pl.col("item").cast(pl.Int64))
    judged = study.judgments.frame.filter(pl.col("item").cast(pl.Int64) > 75)
    found = Study.read(rows, judged, metrics=["flat", "long"]).estimate(by="topic")
    for one in found:
        assert any("metric flat is the same on all outputs" in note for note in one.notes)
        assert any("are not a random sample of the pool" in note for note in one.notes)


def test_few_judged_outputs_of_a_slice_are_said():
    study = campaign((0.0, 1.0), n=14)
    found = study.estimate(by="topic")
    few = {one.slice for one in found if any("judged outputs lie in" in note for note in one.notes)}
    assert few == {one.slice for one in found if one.n_outputs < 5}
    assert few
    [mixed, _] = study.estimate(by="topic", weights=MIX)
    assert any("judged outputs lie in" in note for note in mixed.notes)
