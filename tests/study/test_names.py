import numpy as np
import polars as pl
import pytest

from steelyard.report import write_report
from steelyard.study import Study
from steelyard.tables import read_outputs


@pytest.fixture
def frames():
    rng = np.random.default_rng(0)
    outputs = [
        {"item": n, "system": s, "rouge-l": float(rng.uniform())} for n in range(60) for s in "ab"
    ]
    judgments = [
        {
            "item": row["item"],
            "system": row["system"],
            "rater": rater,
            "prompt": "overall",
            "score": float(rng.uniform() < row["rouge-l"]),
        }
        for row in outputs[:80]
        for rater in "xyz"
    ]
    return pl.DataFrame(outputs), pl.DataFrame(judgments)


@pytest.mark.parametrize(
    "ask",
    [
        lambda study, names: study.estimate(names("rouge-l"), prompts=names("overall")),
        lambda study, names: study.estimate(systems=names("a")),
        lambda study, names: study.diagnose(
            names("rouge-l"), prompts=names("overall"), systems=names("a")
        ),
        lambda study, names: study.monitor(
            names("rouge-l"), half_width=0.1, systems=names("a"), prompts=names("overall")
        ),
        lambda study, names: study.plan(
            names("rouge-l"), prompt="overall", systems=names("a"), half_width=0.3
        ),
        lambda study, names: study.outputs.pool_moments(names("rouge-l"))["a"].mean.tolist(),
        lambda study, names: study.sample(5, systems=names("a"), seed=1).frame.to_dicts(),
    ],
)
def test_one_name_is_a_name_and_not_its_letters(frames, ask):
    study = Study.read(*frames)
    assert repr(ask(study, lambda name: name)) == repr(ask(study, lambda name: [name]))


def test_files_are_read_and_reported_on_with_one_name(frames, tmp_path):
    study = Study.read(*frames, metrics="rouge-l")
    assert study.metrics == ("rouge-l",)
    assert read_outputs(frames[0], metrics="rouge-l").metrics == ("rouge-l",)
    names = {"metrics": "rouge-l", "prompts": "overall", "systems": "a"}
    page = write_report(study, tmp_path / "report.html", **names)
    assert "rouge-l" in page.read_text(encoding="utf-8")
