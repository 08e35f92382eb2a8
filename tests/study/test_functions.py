import polars as pl
import pytest

import steelyard as sy


@pytest.fixture
def files():
    outputs = pl.DataFrame(
        [
            {"item": item, "system": system, "m": item * 0.1}
            for item in range(12)
            for system in ("a", "b")
        ]
    )
    judgments = outputs.filter(pl.col("item") < 8).with_columns(
        score=pl.col("m") + (pl.col("system") == "a") * 0.5 + pl.col("item") % 3 * 0.1,
        rater=pl.lit("r"),
    )
    return outputs, judgments.drop("m")


def test_a_question_of_files_is_that_of_their_study(files):
    study = sy.Study.read(*files)
    assert sy.estimate(*files) == study.estimate()
    assert sy.compare(*files, margin=0.1) == study.compare(margin=0.1)
    assert sy.estimate(*files, systems="a", level=0.9)[0].level == 0.9
    assert [one.prompt for one in sy.monitor(*files)] == [one.prompt for one in study.monitor()]


def test_a_question_takes_its_options_and_no_others(files):
    assert sy.estimate(*files, metrics=())[0].metrics == ()
    with pytest.raises(TypeError, match="lvl"):
        sy.estimate(*files, lvl=0.9)


def test_a_result_becomes_a_frame_of_pandas(files):
    pd = pytest.importorskip("pandas")
    found = sy.estimate(*files).to_pandas()
    assert isinstance(found, pd.DataFrame)
    assert list(found["system"]) == ["a", "b"]
