import numpy as np
import polars as pl
import pytest

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables import read_judgments, read_outputs, write_table


def outputs_of(frame, form, folder, **options):
    """The same pool, in memory or on disk."""
    if form == "frame":
        return read_outputs(frame, **options)
    if form == "lazy":
        return read_outputs(frame.lazy(), **options)
    path = folder / f"pool.{form}"
    write_table(frame, path)
    return read_outputs(path, **options)


FORMS = pytest.mark.parametrize("form", ["frame", "lazy", "parquet", "csv", "jsonl"])


def judgments_of(*keys):
    return read_judgments(
        pl.DataFrame(keys, schema=["item", "system"], orient="row").with_columns(
            rater=pl.int_range(len(keys)), prompt=pl.lit("p"), score=1
        )
    )


@FORMS
def test_moments_match_a_hand_worked_example(tmp_path, form):
    frame = pl.DataFrame(
        {
            "item": [1, 1, 2, 2, 3],
            "system": ["b", "a", "b", "a", "b"],
            "g": [1.0, 10.0, 2.0, 30.0, 6.0],
            "h": [0, 5, 3, 5, 0],
        }
    )
    moments = outputs_of(frame, form, tmp_path).pool_moments(["g", "h"])
    assert list(moments) == ["b", "a"]
    # g: mean 9/3, deviations -2, -1, 3; h: mean 1, deviations -1, 2, -1; products 2, -2, -3
    assert moments["b"].size == 3
    np.testing.assert_allclose(moments["b"].mean, [3, 1])
    np.testing.assert_allclose(moments["b"].covariance, [[14 / 3, -1], [-1, 2]])
    np.testing.assert_array_equal(moments["b"].low, [1, 0])
    np.testing.assert_array_equal(moments["b"].high, [6, 3])
    np.testing.assert_allclose(moments["a"].covariance, [[100, 0], [0, 0]])


@FORMS
def test_moments_match_numpy_far_from_zero(tmp_path, form):
    # Differences of squares would leave no digit of a variance of 1 at an offset of 1e8.
    rng = np.random.default_rng(1)
    size = 250_000 if form in {"frame", "parquet"} else 3000
    values = 1e8 + rng.multivariate_normal([0, 5], [[1, 0.6], [0.6, 2]], size=size)
    frame = pl.DataFrame(
        {"item": range(size), "system": rng.choice(["a", "b"], size), "g": values[:, 0]}
    ).with_columns(h=values[:, 1])
    moments = outputs_of(frame, form, tmp_path).pool_moments()
    for system in ("a", "b"):
        part = values[(frame["system"] == system).to_numpy()]
        assert moments[system].size == len(part)
        mean = 1e8 + (part - 1e8).mean(axis=0)
        np.testing.assert_allclose(moments[system].mean, mean, rtol=1e-15)
        expected = np.cov((part - 1e8).T, ddof=0)
        np.testing.assert_allclose(moments[system].covariance, expected, rtol=1e-9)


@FORMS
def test_values_are_in_the_order_of_the_pool(tmp_path, form):
    frame = pl.DataFrame(
        {"item": [1, 1, 2], "system": ["a", "b", "a"], "g": [3, 2, 1], "h": [True, True, False]}
    )
    outputs = outputs_of(frame, form, tmp_path)
    np.testing.assert_array_equal(outputs.pool_values("a", ["h", "g"]), [[1, 3], [0, 1]])
    np.testing.assert_array_equal(outputs.pool_values("b"), [[2, 1]])


def test_without_metrics_there_is_still_a_size():
    outputs = read_outputs(pl.DataFrame({"item": [1, 2], "system": "a", "output": "x"}))
    assert outputs.pool_moments()["a"].size == 2
    assert outputs.pool_values("a").shape == (2, 0)
    assert outputs.sizes == {"a": 2}


@pytest.mark.parametrize("value", [None, float("nan"), float("-inf")])
@pytest.mark.parametrize(("form", "place"), [("frame", "row 2"), ("parquet", "row 2")])
def test_a_metric_that_is_not_finite_is_an_error_and_never_dropped(tmp_path, value, form, place):
    frame = pl.DataFrame(
        {"item": [7, 8], "system": "a", "g": [1.0, 2.0], "h": [1.0, value]}, strict=False
    )
    outputs = outputs_of(frame, form, tmp_path)
    match = rf"{place}, column h: expected a finite number, got .* \(item '8', system 'a'; a gap in metric h on 1 of 2 outputs\): score"
    for use in (outputs.pool_moments, lambda: outputs.pool_values("a")):
        with pytest.raises(InvalidDataError, match=match):
            use()
    assert outputs.pool_moments(["g"])["a"].size == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "item,system,g\n\n1,a,1\n2,a,\n"),
        ("a.jsonl", '\n{"item":1,"system":"a","g":1}\n\n{"item":2,"system":"a"}\n'),
    ],
)
def test_a_missing_metric_of_a_text_file_is_named_by_its_line(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InvalidDataError, match=rf"{name}, line 4, column g: .* got nothing \(item"):
        read_outputs(path).pool_moments()


def test_unknown_metrics_and_systems_are_refused():
    outputs = read_outputs(pl.DataFrame({"item": [1], "system": "a", "g": 1, "h": 2}))
    with pytest.raises(InvalidArgumentError, match="`metrics` must be among `g`, `h` of outputs"):
        outputs.pool_moments(["f"])
    with pytest.raises(InvalidArgumentError, match="`metrics` must name each once; got 'g' twice"):
        outputs.pool_moments(["g", "g"])
    with pytest.raises(InvalidArgumentError, match="`system` must be one of `a`; got 'z'"):
        outputs.pool_values("z", ["g"])
    with pytest.raises(InvalidArgumentError, match=r"`columns` must be among `item`, .*; got 'z'"):
        outputs.rows(columns=["z"])


@FORMS
def test_rows_of_judged_outputs_are_found_once_each(tmp_path, form):
    frame = pl.DataFrame(
        {
            "item": [1, 1, 2, 3],
            "system": ["a", "b", "a", "a"],
            "output": ["w", "x", "y", "z"],
            "reference": ["r", "s", "t", "u"],
            "g": [1, 2, 3, 4],
            "batch": "n",
        }
    )
    outputs = outputs_of(frame, form, tmp_path)
    judgments = judgments_of(("2", "a"), ("1", "b"), ("2", "a"))
    rows = outputs.rows_of(judgments)
    assert rows.columns == ["item", "system", "output", "reference", "g"]
    assert rows.rows() == [("1", "b", "x", ["s"], 2.0), ("2", "a", "y", ["t"], 3.0)]
    chosen = outputs.rows_of(judgments, columns=["batch"])
    assert chosen.rows() == [("1", "b", "n"), ("2", "a", "n")]


@FORMS
def test_a_judged_output_that_is_not_in_the_pool_is_named(tmp_path, form):
    frame = pl.DataFrame({"item": [1, 2], "system": "a", "g": [1, 2]})
    outputs = outputs_of(frame, form, tmp_path)
    path = tmp_path / "judged.csv"
    path.write_text(
        "item,system,rater,prompt,score\n1,a,r,p,1\n\n1,b,r,p,1\n9,a,r,p,1\n1,b,s,p,1\n"
    )
    match = (
        r"judged\.csv, line 4: the output of item '1' by system 'b' is judged but not in "
        r".*, which lacks 2 of 3 judged outputs"
    )
    with pytest.raises(InvalidDataError, match=match):
        outputs.rows_of(read_judgments(path))


@pytest.mark.parametrize("form", ["frame", "parquet"])
def test_gaps_of_a_metric_are_counted_and_leave_the_others_as_they_are(tmp_path, form):
    frame = pl.DataFrame(
        {
            "item": [1, 2, 3, 1, 2],
            "system": ["a", "a", "a", "b", "b"],
            "g": [1.0, None, float("nan"), 4.0, 6.0],
            "h": [1.0, 2.0, 6.0, 0.0, 0.0],
        }
    )
    outputs = outputs_of(frame, form, tmp_path)
    assert outputs.metric_gaps() == {"a": {"g": 2}}
    found = outputs.pool_moments(gaps="fill")
    assert found["a"].mean == pytest.approx([1, 3])
    assert found["b"].mean == pytest.approx([5, 0])
    with pytest.raises(InvalidDataError, match="a finite number"):
        outputs.pool_moments()


def test_what_is_not_asked_for_is_not_read():
    def explode(_):
        raise AssertionError("read")

    frame = pl.LazyFrame({"item": [1, 2], "system": "a", "g": [1.0, 2.0], "other": [1.0, 2.0]})
    frame = frame.with_columns(
        pl.col("other").map_batches(explode, return_dtype=pl.Float64),
        output=pl.col("other").map_batches(explode, return_dtype=pl.String),
    )
    outputs = read_outputs(frame, metrics=["g"])
    assert outputs.pool_moments()["a"].mean == [1.5]
    assert outputs.pool_values("a").shape == (2, 1)
    assert outputs.rows_of(judgments_of(("2", "a")), columns=["g"]).rows() == [("2", "a", 2.0)]
    with pytest.raises(AssertionError, match="read"):
        outputs.rows()


def test_a_missing_text_is_an_empty_one_on_disk_too(tmp_path):
    frame = pl.DataFrame({"item": [1, 2], "system": "a", "output": ["x", None], "g": 1.0})
    outputs = outputs_of(frame, "parquet", tmp_path)
    assert outputs.rows_of(judgments_of(("1", "a")))["output"].to_list() == ["x"]
    assert outputs.rows()["output"].to_list() == ["x", ""]


def test_a_damaged_pool_is_an_error_when_it_is_used(tmp_path):
    path = tmp_path / "pool.parquet"
    pl.DataFrame({"item": range(5000), "system": "a", "g": 1.0}).write_parquet(path)
    outputs = read_outputs(path)
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=r"pool\.parquet: cannot be read: "):
        outputs.check()


@pytest.mark.parametrize("form", ["frame", "parquet"])
def test_a_gap_may_count_as_the_mean_of_the_systems_other_values(tmp_path, form):
    frame = pl.DataFrame(
        {"item": [1, 2, 3], "system": "a", "g": [1.0, None, 5.0], "h": [1.0, 2.0, 6.0]}
    )
    found = outputs_of(frame, form, tmp_path).pool_moments(gaps="fill")["a"]
    # g counts as 1, 3, 5 and h is as it is; divided by 3
    np.testing.assert_allclose(found.mean, [3, 3])
    np.testing.assert_allclose(found.covariance, [[8 / 3, 10 / 3], [10 / 3, 14 / 3]])
