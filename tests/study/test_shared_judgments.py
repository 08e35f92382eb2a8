import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from steelyard import Study
from steelyard.study.shared_judgments import distinct_judgments

SYSTEMS = ("a", "b", "c")
KEYS = ["item", "system", "rater", "prompt", "score"]


def pool(*, size=60, share=0.5, seed=0):
    """Outputs with their human score; shared texts are a point better than others."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(size):
        alike, base = rng.random(len(SYSTEMS)) < share, rng.standard_normal()
        for place, system in enumerate(SYSTEMS):
            text = f"{item}" if alike[place] else f"{item} {system}"
            true = base + (1.0 if alike[place] else 0.3 * rng.standard_normal())
            rows.append((f"i{item:03}", system, text, true))
    columns = ["item", "system", "output", "true"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def judged(drawn, *, seed=0, raters=8, each=1):
    """Judge each row of a sample; `each` raters."""
    rng = np.random.default_rng(seed)
    rows = drawn.select(pl.all().repeat_by(each).explode()) if each > 1 else drawn
    who = np.concatenate([rng.permutation(raters)[:each] for _ in range(drawn.height)])
    noise = pl.Series(0.3 * rng.standard_normal(rows.height))
    return rows.with_columns(
        rater=pl.Series([f"r{one}" for one in who]),
        prompt=pl.lit("p"),
        score=pl.col("true") + noise,
    ).drop("output", "true")


def outputs_and_sample(n=30, **options):
    frame = pool(**options)
    drawn = Study.read(frame).sample(n, seed=1).frame
    return frame.drop("true"), drawn


def test_a_judgment_counts_for_every_system_that_wrote_the_text():
    outputs, drawn = outputs_and_sample()
    study = Study.read(outputs, judged(drawn))
    found = study.estimate()
    assert [(one.n_outputs, one.n_judgments) for one in found] == [(30, 30)] * 3
    assert "texts that several systems wrote were judged once" in study.notes[0]
    # by hand: the score of the text, wherever it was judged
    scores = dict(
        judged(drawn).join(drawn.select("item", "system", "output"), on=["item", "system"])
        .select("output", "score").iter_rows()
    )  # fmt: skip
    items = drawn["item"].unique()
    own = outputs.filter((pl.col("system") == "c") & pl.col("item").is_in(items.to_list()))
    want = np.mean([scores[text] for text in own["output"]])
    assert study.estimate(raters_as="fixed")["c"].estimate == pytest.approx(want)


def test_judgments_show_by_themselves_that_texts_were_drawn_once():
    outputs, drawn = outputs_and_sample()
    with_record = Study.read(outputs, judged(drawn))
    bare = Study.read(outputs, judged(drawn).select(KEYS))
    columns = [*KEYS, "#text"]
    one, other = (study.judgments.frame for study in (with_record, bare))
    assert_frame_equal(one.select(KEYS), other.select(KEYS), check_row_order=False)
    assert columns[-1] in other.columns
    assert [one.estimate for one in bare.estimate()] == pytest.approx(
        [one.estimate for one in with_record.estimate()]
    )


def test_a_few_missing_judgments_do_not_switch_it_off_and_are_counted():
    outputs, drawn = outputs_and_sample()
    single = drawn.filter(pl.col("also_by").is_null())
    missing = single.filter(pl.col("system") == "c").head(1)
    rows = judged(drawn).select(KEYS).join(missing, on=["item", "system"], how="anti")
    study = Study.read(outputs, rows)
    assert "1 of " in study.notes[0]
    assert "items lack a judgment of one of their texts" in study.notes[0]
    assert {one.system: one.n_outputs for one in study.estimate()} == {"a": 30, "b": 30, "c": 29}


def test_half_a_sample_is_not_taken_for_texts_drawn_once_unless_recorded():
    outputs, drawn = outputs_and_sample()
    half = judged(drawn).sample(fraction=0.5, seed=1)
    bare = Study.read(outputs, half.select(KEYS))
    assert "count for these only" in bare.notes[0]
    assert "keep the column also_by" in bare.notes[0]
    recorded = Study.read(outputs, half)
    assert len(recorded.judgments) > len(bare.judgments)
    by_sample = bare.estimate(sample=drawn)
    assert [one.n_outputs for one in by_sample] == [one.n_outputs for one in recorded.estimate()]


def test_systems_drawn_each_on_its_own_keep_their_own_texts():
    frame = pool()
    drawn = Study.read(frame).sample(20, same_items=False, seed=1).frame
    study = Study.read(frame.drop("true"), judged(drawn))
    assert [one.n_outputs for one in study.estimate()] == [20, 20, 20]
    assert study.notes == ()


def test_judgments_of_one_text_for_two_systems_are_pooled():
    frame = pool()
    drawn = Study.read(frame).sample(30, each_text_once=False, seed=1).frame
    study = Study.read(frame.drop("true"), judged(drawn))
    shared = drawn.group_by("item", "output").agg(pl.col("system"))
    several = shared.filter(pl.col("system").list.len() > 1)
    rows = study.judgments.frame
    item, text, systems = several.sort("item").row(0)
    own = rows.filter((pl.col("item") == item) & pl.col("system").is_in(systems))
    raters = own.group_by("system").agg(pl.col("rater").sort())
    assert raters["rater"].n_unique() == 1
    assert rows.height > drawn.height
    assert distinct_judgments(rows).height <= drawn.height
    assert text in frame["output"]


def test_unknown_raters_fill_in_but_are_not_pooled():
    outputs, drawn = outputs_and_sample()
    bare = judged(drawn).select("item", "system", "prompt", "score")
    assert [one.n_judgments for one in Study.read(outputs, bare).estimate()] == [30, 30, 30]
    every = Study.read(pool()).sample(30, each_text_once=False, seed=1).frame
    twice = judged(every).select("item", "system", "prompt", "score")
    assert len(Study.read(outputs, twice).judgments) == twice.height


def test_copies_in_a_file_are_the_same_as_texts_judged_once():
    """A server writes the judgment of a text for each of its systems."""
    outputs, drawn = outputs_and_sample()
    once = Study.read(outputs, judged(drawn).drop("also_by"))
    written = Study.read(outputs, once.judgments.frame.drop("#text"))
    assert written.notes == ()
    assert_frame_equal(once.judgments.frame, written.judgments.frame)
    for study in (once, written):
        assert [one.standard_error for one in study.estimate()] == pytest.approx(
            [one.standard_error for one in once.estimate()]
        )


def test_the_order_of_rows_does_not_matter():
    outputs, drawn = outputs_and_sample()
    rows = judged(drawn, each=2)
    found = Study.read(outputs, rows).estimate()
    shuffled = Study.read(
        outputs.sample(fraction=1, shuffle=True, seed=2),
        rows.sample(fraction=1, shuffle=True, seed=3),
    ).estimate()
    for one in found:
        other = shuffled[one.system]
        assert (other.estimate, other.low, other.high) == pytest.approx(
            (one.estimate, one.low, one.high)
        )


def test_preferences_are_left_alone():
    outputs, drawn = outputs_and_sample()
    scored = judged(drawn).select(KEYS)
    asked = scored.filter(pl.col("system") == "a").with_columns(
        prompt=pl.lit("better"), other_system=pl.lit("b"), score=pl.lit(1.0)
    )
    study = Study.read(outputs, pl.concat([scored, asked], how="diagonal"))
    rows = study.judgments.frame.filter(pl.col("prompt") == "better")
    assert rows.height == asked.height
    assert rows["system"].unique().to_list() == ["a"]


def test_a_system_that_was_not_judged_gets_nothing_without_a_record():
    outputs, drawn = outputs_and_sample()
    without = judged(drawn).select(KEYS).filter(pl.col("system") != "b")
    assert Study.read(outputs, without).systems == ("a", "c")


def test_a_system_whose_texts_are_all_shared_is_known_by_the_record():
    frame = pool()
    twin = frame.filter(pl.col("system") == "a").with_columns(system=pl.lit("twin"))
    outputs = pl.concat([frame, twin])
    drawn = Study.read(outputs).sample(30, seed=1).frame
    found = Study.read(outputs.drop("true"), judged(drawn)).estimate(raters_as="fixed")
    assert found["twin"].estimate == pytest.approx(found["a"].estimate)


def test_a_diagnosis_of_all_systems_counts_a_judgment_once():
    outputs, drawn = outputs_and_sample()
    study = Study.read(outputs, judged(drawn, each=2))
    together = study.diagnose([], resamples=40)[-1]
    assert (together.system, together.n_judgments) == ("*", 2 * drawn.height)


def test_counting_for_all_with_draws_of_their_own_would_be_biased():
    """Shared texts are a point better here, and would come in with probability 1 - (1 - f)^k."""
    frame = pool(size=300, share=0.5, seed=3)
    truth = frame.filter(pl.col("system") == "b")["true"].mean()
    naive, own = [], []
    for seed in range(40):
        drawn = Study.read(frame).sample(60, same_items=False, seed=seed).frame
        scores = judged(drawn, seed=seed).join(frame, on=["item", "system"])
        counted = frame.filter(pl.col("system") == "b").join(
            scores.select("item", "output", "score"), on=["item", "output"]
        )
        naive.append(
            counted.unique("item", keep="any", maintain_order=True)["score"].mean() - truth
        )
        study = Study.read(frame.drop("true"), judged(drawn, seed=seed))
        own.append(study.estimate(systems=["b"], raters_as="fixed")["b"].estimate - truth)
    error = np.std(own) / np.sqrt(len(own))
    assert abs(np.mean(own)) < 3 * error
    assert np.mean(naive) > 5 * error


def test_systems_stay_in_the_order_in_which_they_were_given():
    items = [str(i) for i in range(12)]
    texts = {"z": items, "b": [f"b{i}" for i in items], "a": items}
    outputs = pl.DataFrame(
        [
            {"item": item, "system": system, "output": text}
            for system, own in texts.items()
            for item, text in zip(items, own, strict=True)
        ]
    )
    judged = outputs.drop("output").with_columns(
        rater=pl.Series([f"r{i % 5}" for i in range(36)]),
        prompt=pl.lit("p"),
        score=pl.Series([float(i % 7) for i in range(36)]),
    )
    found = Study.read(outputs, judged)
    assert found.judgments.frame.height > 36
    assert [one.system for one in found.estimate([], raters_as="fixed")] == ["z", "b", "a"]
