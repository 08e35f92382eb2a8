import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.campaign.averages import average_name, averaged_judgments
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.tables import read_judgments

WEIGHTS = {"fluency": 2, "overall": 1}


def judgments(rows):
    return pl.DataFrame(rows, schema=["item", "system", "rater", "prompt", "score"], orient="row")


def averaged(rows, weights=WEIGHTS):
    found, notes = averaged_judgments(read_judgments(judgments(rows)), weights)
    scores = {
        row[:3]: row[3] for row in found.frame.select("item", "system", "rater", "score").rows()
    }
    return scores, notes


def test_the_average_of_a_judgment_is_worked_by_hand():
    scores, notes = averaged(
        [
            ("1", "a", "r", "fluency", 4.0),
            ("1", "a", "r", "overall", 1.0),
            ("2", "a", "r", "overall", 5.0),
            ("2", "a", "r", "fluency", 2.0),
        ]
    )
    # (2 * 4 + 1) / 3 and (2 * 2 + 5) / 3
    assert scores == {("1", "a", "r"): pytest.approx(3.0), ("2", "a", "r"): pytest.approx(3.0)}
    assert notes == ()


def test_judgments_without_their_counterpart_are_left_out_and_counted():
    scores, notes = averaged(
        [
            ("1", "a", "r", "fluency", 4.0),
            ("1", "a", "r", "overall", 1.0),
            ("1", "a", "s", "overall", 9.0),
            ("2", "a", "r", "overall", 5.0),
        ]
    )
    assert scores == {("1", "a", "r"): pytest.approx(3.0)}
    assert notes == (
        "1 of 2 outputs are left out of the average: they were not judged under all of its prompts",
        (
            "1 of 3 judgments are left out of the average: their rater did not judge the output under "
            "all of its prompts"
        ),
    )


def test_prompts_judged_by_different_raters_are_averaged_by_output():
    scores, notes = averaged(
        [
            ("1", "a", "r", "fluency", 4.0),
            ("1", "a", "t", "fluency", 6.0),
            ("1", "a", "s", "overall", 1.0),
            ("2", "a", "r", "fluency", 2.0),
            ("2", "a", "r", "overall", 2.0),
        ]
    )
    assert scores == {("1", "a", "unknown"): pytest.approx(11 / 3), ("2", "a", "unknown"): 2.0}
    assert "prompts were judged by different raters" in notes[0]


def test_an_average_keeps_the_line_of_its_judgment():
    rows = [("1", "a", "r", prompt, 1.0) for prompt in WEIGHTS] + [
        ("2", "a", "r", prompt, 1.0) for prompt in WEIGHTS
    ]
    found, _ = averaged_judgments(read_judgments(judgments(rows)), WEIGHTS)
    assert found.place(1) == "judgments, row 3"
    assert found.prompts == ("average of fluency=2, overall=1",)


def study(n=60, *, seed=0, raters=1):
    rng = np.random.default_rng(seed)
    outputs = pl.DataFrame({"item": range(200), "system": "a", "output": "text"})
    items = rng.permutation(200)[:n]
    common = rng.normal(size=n)
    rows = [
        (item, "a", f"r{rng.integers(raters)}", prompt, common[place] + rng.normal())
        for prompt in WEIGHTS
        for place, item in enumerate(items)
    ]
    if raters == 1:
        rows = [(*row[:2], "r", *row[3:]) for row in rows]
    return Study.read(outputs, judgments(rows))


def test_the_covariance_between_prompts_is_counted():
    one = study()
    [got] = one.estimate(average=WEIGHTS, target="superpopulation", raters="fixed")
    wide = one.judgments.frame.pivot("prompt", index="item", values="score")
    scores = wide.select("fluency", "overall").to_numpy()
    w = np.array([2, 1]) / 3
    variance = w @ np.cov(scores.T) @ w / len(scores)
    assert got.estimate == pytest.approx(w @ scores.mean(axis=0), abs=1e-12)
    assert got.standard_error == pytest.approx(np.sqrt(variance), rel=1e-8)
    assert got.degrees_of_freedom == pytest.approx(len(scores) - 1)
    assert got.prompt == average_name(WEIGHTS)


def test_only_the_ratio_of_weights_counts():
    one = study()
    first, second = (
        one.estimate(average={name: c * w for name, w in WEIGHTS.items()})[0] for c in (1, 5)
    )
    assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-12)


def test_comparisons_and_their_notes_are_of_the_average():
    one = study(raters=4)
    frame = one.judgments.frame
    rows = pl.concat([frame, frame.with_columns(system=pl.lit("b"), score=pl.col("score") - 1)])
    outputs = pl.DataFrame({"item": list(range(200)) * 2, "system": ["a"] * 200 + ["b"] * 200})
    outputs = outputs.with_columns(output="system")
    both = Study.read(outputs, rows)
    [got] = both.compare(average=WEIGHTS)
    assert got.prompt == average_name(WEIGHTS)
    assert got.pairs[0].difference == pytest.approx(1, abs=1e-8)
    assert "prompts were judged by different raters" in got.notes[0]
    with pytest.raises(NotEstimableError, match=r'raters are not known, and .* "random" needs'):
        both.compare(average=WEIGHTS, raters="random")


@pytest.mark.parametrize(
    ("average", "words"),
    [
        ({"fluency": 1, "style": 1}, "`average` names 'style', which is not there; there are: flu"),
        ({"fluency": 1, "overall": 0}, "`average` must be positive numbers; got 0 for 'overall'"),
        ({"fluency": -1, "overall": 1}, "got -1 for 'fluency'"),
        ({"fluency": float("nan"), "overall": 1}, "got nan for 'fluency'"),
        ({"fluency": 1}, "`average` needs at least two prompts"),
    ],
)
def test_weights_that_make_no_average_are_refused(average, words):
    with pytest.raises(InvalidArgumentError, match=words):
        study().estimate(average=average)


def test_prompts_are_named_by_the_average_alone():
    with pytest.raises(InvalidArgumentError, match="exclude each other"):
        study().estimate(average=WEIGHTS, prompts="overall")


def test_prompts_on_different_outputs_have_no_average():
    rows = [(str(item), "a", "r", "fluency", 1.0) for item in range(5)]
    rows += [(str(item), "a", "r", "overall", 1.0) for item in range(5, 10)]
    with pytest.raises(
        NotEstimableError, match="no output was judged under all of fluency, overall"
    ):
        averaged(rows)


def test_a_draw_by_probabilities_must_be_judged_whole():
    rows = judgments(
        [(str(item), "a", "r", prompt, float(item)) for item in range(6) for prompt in WEIGHTS][:-1]
    ).with_columns(probability=pl.Series([0.2, 0.2] * 3 + [0.4] * 5))
    with pytest.raises(NotEstimableError, match="1 of 6 outputs were not judged under all of"):
        averaged_judgments(read_judgments(rows), WEIGHTS)


def test_a_system_without_an_average_is_left_out_and_named():
    rows = [
        (str(item), system, "r", prompt, float(item))
        for item in range(5)
        for system in "ab"
        for prompt in WEIGHTS
    ]
    rows += [(str(item), "c", "r", "overall", 1.0) for item in range(5)]
    outputs = pl.DataFrame(
        {
            "item": [str(item) for item in range(9)] * 3,
            "system": [name for name in "abc" for _ in range(9)],
        }
    ).with_columns(output=pl.concat_str("item", "system"))
    study = Study.read(outputs, judgments(rows))
    note = "c: left out, as no output was judged under all prompts"
    found = study.estimate(average=WEIGHTS)
    assert [one.system for one in found] == ["a", "b"]
    assert note in found.notes
    [compared] = study.compare(average=WEIGHTS, baseline="a")
    assert note in compared.notes
    assert [(pair.a, pair.b) for pair in compared.pairs] == [("b", "a")]
