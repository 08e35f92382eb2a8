import numpy as np
import polars as pl
import pytest

from steelyard.sampling.sample import sample
from steelyard.study import Study

OUTPUTS = pl.DataFrame({"item": [f"i{i}" for i in range(400)], "system": "s", "length": range(400)})


@pytest.fixture
def drawn():
    """A simple draw of 200, judged by one rater; whoever scores 1 comes back three times as fast."""
    rng = np.random.default_rng(0)
    study = Study.read(OUTPUTS, judged(OUTPUTS.head(2), [0.0, 1.0]))
    found = sample(study.outputs, 200, seed=1).frame
    score = (rng.uniform(size=200) < 0.5).astype(float)
    rows = judged(found, score)
    return rows.with_columns(time=rng.exponential(size=200) * np.where(score > 0, 1, 3))


def judged(rows, score):
    return rows.with_columns(
        rater=pl.lit("r"), prompt=pl.lit("p"), score=pl.Series(score, dtype=pl.Float64)
    )


def test_estimate_says_that_outputs_are_missing(drawn):
    early = drawn.sort("time").head(120)
    last = early["draw"].max()
    [found] = Study.read(OUTPUTS, early).estimate()
    note = f"{last - 120} of the first {last} outputs of the draw are not judged"
    assert any(one.startswith(note) for one in found.notes)
    plain = early.select("item", "system", "rater", "prompt", "score")
    [lent] = Study.read(OUTPUTS, plain, sample=drawn).estimate()
    assert any(one.startswith(note) for one in lent.notes)
    [whole] = Study.read(OUTPUTS, drawn.filter(pl.col("draw") <= 120)).estimate()
    assert not any("of the draw" in one for one in whole.notes)
