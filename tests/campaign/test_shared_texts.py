import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.sampling.sample import sample
from steelyard.tables import read_outputs

SYSTEMS = ("a", "b", "c")


def pool(*, size=60, share=0.5, seed=0):
    """Outputs with their human score; shared texts are a point better than others."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(size):
        alike, base = rng.random(len(SYSTEMS)) < share, rng.standard_normal()
        for place, system in enumerate(SYSTEMS):
            text = f"{item}" if alike[place] else f"{item} {system}"
            true = base + (1.0 if alike[place] else 0.3 * rng.standard_normal())
            rows.append((f"i{item:03}", system, f"text {text}", true))
    return pl.DataFrame(rows, schema=["item", "system", "output", "true"], orient="row")


def judged(drawn, *, seed=0, raters=8):
    """Judge each row of a sample."""
    rng = np.random.default_rng(seed)
    return drawn.with_columns(
        rater=pl.Series([f"r{one}" for one in rng.integers(raters, size=drawn.height)]),
        prompt=pl.lit("p"),
        score=pl.col("true") + pl.Series(0.3 * rng.standard_normal(drawn.height)),
    ).drop("output", "true")


def numbers(found):
    return [number for one in found for number in (one.estimate, one.standard_error)]


def outputs_and_sample(n=30, **options):
    frame = pool(**options)
    return frame.drop("true"), Study.read(frame).sample(n, seed=1).frame


def test_a_text_that_was_judged_once_counts_for_every_system_that_wrote_it():
    outputs, drawn = outputs_and_sample()
    found = Study.read(outputs, judged(drawn)).estimate()
    assert [(one.n_outputs, one.n_judgments) for one in found] == [(30, 30)] * 3
    [note] = [one for one in found.notes if "what several systems wrote counts for each" in one]
    assert " judgments of 5 texts by a and c (such as item i0" in note
    bare = Study.read(outputs, judged(drawn).drop("also_by"))
    assert numbers(bare.estimate()) == pytest.approx(numbers(found), rel=1e-9)


def test_a_judgment_that_a_file_repeats_for_each_system_counts_once():
    """A server writes the judgment of a text for each of its systems."""
    outputs, drawn = outputs_and_sample()
    once = judged(drawn)
    texts = outputs.join(once.select("item", "system"), on=["item", "system"]).join(
        outputs.rename({"system": "other"}), on=["item", "output"]
    )
    copies = (
        once.join(texts.select("item", "system", "other"), on=["item", "system"])
        .drop("system", "also_by")
        .rename({"other": "system"})
    )
    assert copies.height > once.height
    want, got = (Study.read(outputs, rows).estimate() for rows in (once, copies))
    assert numbers(got) == pytest.approx(numbers(want), rel=1e-8)
    said = f"{copies.height - once.height} judgments are there for several systems"
    assert any(note.startswith(said) for note in got.notes)


def test_judgments_of_unknown_raters_are_never_copies():
    outputs, _ = outputs_and_sample()
    every = sample(read_outputs(pool()), 30, each_text_once=False, seed=1).frame
    rows = judged(every).drop("rater")
    found = Study.read(outputs, rows).estimate()
    assert not any("counts once" in note for note in found.notes)
    shared = outputs.join(every.select("item", "system"), on=["item", "system"]).join(
        outputs.rename({"system": "other"}), on=["item", "output"]
    )
    want = {system: shared.filter(pl.col("other") == system).height for system in SYSTEMS}
    assert {one.system: one.n_judgments for one in found} == want


def test_identical_texts_that_were_judged_apart_are_one_mean_within_the_plain_intervals():
    rng = np.random.default_rng(3)
    outputs, rows = [], []
    for item in range(60):
        for system in "ab":
            same = item < 40
            text = f"answer {item}" if same else f"answer {item} of {system}"
            outputs.append({"item": item, "system": system, "output": text})
            if item % 2 == 0:
                score = float(rng.normal()) + 0.2 * (system == "a")
                rows.append(
                    {"item": item, "system": system, "rater": f"r{item % 6}", "prompt": "p"}
                    | {"score": score}
                )
    outputs, rows = pl.DataFrame(outputs), pl.DataFrame(rows)
    found = Study.read(outputs, rows).estimate()
    written = pl.col("output") + pl.lit(" as written by ") + pl.col("system")
    apart = Study.read(outputs.with_columns(output=written), rows).estimate()
    for one, plain in zip(found, apart, strict=True):
        assert plain.low < one.estimate < plain.high
        assert (one.n_outputs, one.n_judgments) == (30, 50)
    assert any(
        note.endswith("for each of them: 40 judgments of 20 texts by a and b (such as item 0)")
        for note in found.notes
    )


BLANK = {
    "blank everywhere": lambda rows: rows.with_columns(output=pl.lit("")),
    "a placeholder everywhere": lambda rows: rows.with_columns(
        output=pl.lit("[output not released]")
    ),
    "whitespace everywhere": lambda rows: rows.with_columns(output=pl.lit(" \n\t")),
    "words for nothing": lambda rows: rows.with_columns(output=pl.lit("N/A")),
    "the name of the item": lambda rows: rows.with_columns(output=pl.col("item").cast(pl.String)),
}


def plain_campaign(*, same_items=True):
    rng = np.random.default_rng(0)
    hard = rng.normal(size=40)
    rows = [
        {"item": f"i{item}", "system": system, "rater": f"r{rng.integers(5)}", "prompt": "p"}
        | {"score": hard[item] + rng.normal()}
        for system in "abc"
        for item in (range(15) if same_items else rng.permutation(40)[:15])
    ]
    pools = [
        {"item": f"i{item}", "system": system, "m": rng.normal()}
        for system in "abc"
        for item in range(40)
    ]
    return pl.DataFrame(pools), pl.DataFrame(rows)


@pytest.mark.parametrize("same_items", [True, False])
@pytest.mark.parametrize("kind", BLANK)
def test_texts_that_are_none_share_nothing(kind, same_items):
    outputs, rows = plain_campaign(same_items=same_items)
    want = Study.read(outputs, rows, metrics=["m"])
    got = Study.read(BLANK[kind](outputs), rows, metrics=["m"])
    assert numbers(got.estimate()) == pytest.approx(numbers(want.estimate()), rel=1e-9)
    assert [one.n_judgments for one in got.estimate()] == [15, 15, 15]
    assert not any("what several systems wrote" in note for note in got.estimate().notes)
    for one, other in zip(got.compare()[0].pairs, want.compare()[0].pairs, strict=True):
        assert one.identical_items == 0
        assert one.difference == pytest.approx(other.difference, rel=1e-9, abs=1e-12)


def test_texts_that_are_blank_in_part_share_only_what_is_written():
    outputs, rows = plain_campaign()
    number = pl.col("item").str.slice(1).cast(pl.Int64)
    text = pl.lit("written for ") + pl.col("item") + pl.col("system")
    blank = outputs.with_columns(output=pl.when(number % 5 < 2).then(pl.lit("")).otherwise(text))
    found = Study.read(blank, rows, metrics=["m"]).estimate()
    assert [(one.n_outputs, one.n_judgments) for one in found] == [(15, 15)] * 3
    assert not any("what several systems wrote" in note for note in found.notes)


def test_a_system_whose_texts_are_all_another_s_has_its_mean():
    frame = pool()
    twin = frame.filter(pl.col("system") == "a").with_columns(system=pl.lit("twin"))
    outputs = pl.concat([frame, twin])
    drawn = Study.read(outputs).sample(30, seed=1).frame
    study = Study.read(outputs.drop("true"), judged(drawn))
    found = study.estimate()
    assert found["twin"].estimate == found["a"].estimate
    [pair] = study.compare(pair=("a", "twin"))[0].pairs
    assert (pair.difference, pair.words) == (0, "identical")


def test_a_system_without_judgments_or_shared_texts_has_no_estimate():
    outputs, drawn = outputs_and_sample()
    without = judged(drawn).drop("also_by").filter(pl.col("system") != "b")
    assert [one.system for one in Study.read(outputs, without).estimate()] == ["a", "c"]


def test_shared_texts_come_in_more_often_from_draws_of_their_own_without_bias():
    """Shared texts are a point better here, and come in with probability 1 - (1 - f)^k."""
    frame = pool(size=300, share=0.5, seed=3)
    truth = frame.filter(pl.col("system") == "b")["true"].mean()
    naive, own = [], []
    for seed in range(40):
        drawn = Study.read(frame).sample(60, same_items=False, seed=seed).frame
        rows = judged(drawn, seed=seed)
        counted = frame.filter(pl.col("system") == "b").join(
            rows.join(frame, on=["item", "system"]).select("item", "output", "score"),
            on=["item", "output"],
        )
        naive.append(counted.unique("item", maintain_order=True, keep="any")["score"].mean())
        study = Study.read(frame.drop("true"), rows)
        own.append(study.estimate(systems=["b"])["b"].estimate)
    error = np.std(own) / np.sqrt(len(own))
    assert abs(np.mean(own) - truth) < 3 * error
    assert np.mean(naive) - truth > 5 * error


def test_the_order_of_rows_does_not_matter():
    outputs, drawn = outputs_and_sample()
    rows = judged(drawn)
    turned = Study.read(
        outputs.sample(fraction=1, shuffle=True, seed=2),
        rows.sample(fraction=1, shuffle=True, seed=3),
    ).estimate()
    for one in Study.read(outputs, rows).estimate():
        other = turned[one.system]
        assert (other.estimate, other.low, other.high) == pytest.approx(
            (one.estimate, one.low, one.high), rel=1e-8
        )
