import inspect

import click
import polars as pl
import pytest

from steelyard.cli.main import steelyard
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.results import Results
from steelyard.sampling.sample import sample
from steelyard.study import Study
from steelyard.tables import read_outputs


@pytest.fixture
def frames():
    outputs = pl.DataFrame(
        {
            "item": [n for n in range(40) for _ in "ab"],
            "system": ["a", "b"] * 40,
            "length": [(7 * n + k) % 40 / 40 for n in range(40) for k in range(2)],
        }
    )
    rows = [
        {
            "item": row["item"],
            "system": row["system"],
            "rater": rater,
            "prompt": "overall",
            "score": float(round(row["length"] + ((row["item"] * 13 + k * 7) % 11 - 5) / 11) > 0),
        }
        for row in outputs.to_dicts()
        for k, rater in enumerate("xy")
    ]
    return outputs, pl.DataFrame(rows)


@pytest.fixture
def study(frames):
    return Study.read(*frames)


# What commands do with results, and what a study is read with: no matter of a verb.
_OUTSIDE = {
    *("as_json", "output", "more", "outputs", "judgments"),
    *("columns", "lower_is_better", "earlier", "sample", "bounds"),
}
# What one option of a command is in Python.
_SPELLED = {"numbers": "n", "about": "target"}
# What only the command line has.
_WORDS = {
    "plan": {"pilot", "assumed"},
    "diagnose": {"disagreements", "gate", "worth", "offset"},
    "estimate": {"more", "at_least", "judgment_price"},
}


@pytest.mark.parametrize(
    ("verb", "method"),
    [
        *((verb, verb) for verb in ("estimate", "diagnose", "plan", "monitor")),
    ],
)
def test_every_option_of_a_command_is_one_of_its_method(verb, method):
    options = {
        _SPELLED.get(str(option.name), str(option.name))
        for option in steelyard.get_command(click.Context(steelyard), verb).params
    } - _OUTSIDE
    options -= _WORDS.get(verb, set())
    known = set(inspect.signature(getattr(Study, method)).parameters)
    assert options <= known


def test_a_plan_that_compares_takes_no_other_systems(study):
    with pytest.raises(InvalidArgumentError, match=r"`pair` names its two systems"):
        study.plan(half_width=0.1, pair=("a", "b"), systems="a")


def test_one_of_several_prompts_must_be_chosen(frames):
    outputs, judgments = frames
    twice = pl.concat([judgments, judgments.with_columns(prompt=pl.lit("fluency"))])
    study = Study.read(outputs, twice)
    with pytest.raises(InvalidArgumentError, match=r"must be chosen; there are: overall, fluency"):
        study.plan(half_width=0.1)


def test_a_sample_needs_no_judgments(frames):
    drawn = Study.read(frames[0]).sample(5, seed=1).frame
    assert drawn.equals(sample(read_outputs(frames[0]), 5, seed=1).frame)


@pytest.mark.parametrize(
    "ask",
    [
        lambda study: study.estimate(),
        lambda study: study.diagnose(),
        lambda study: study.plan(half_width=0.1),
        lambda study: study.monitor(half_width=0.1),
        lambda study: study.replay(5),
    ],
)
def test_without_judgments_there_is_nothing_to_tell(frames, ask):
    with pytest.raises(NotEstimableError, match="no judgments yet"):
        ask(Study.read(frames[0]))


@pytest.mark.parametrize(
    "ask",
    [
        lambda study: study.estimate(),
    ],
)
def test_results_are_collections(study, ask):
    found = ask(study)
    assert isinstance(found, Results)
    assert "overall" in str(found)
    assert found.to_frame().height == len(found)
    assert found.to_frame()["system"].to_list() == [one.system for one in found]


def test_a_study_writes_its_report(study, tmp_path):
    path = study.report(tmp_path / "report.html", title="Ours")
    assert "<title>Ours" in path.read_text(encoding="utf-8")


def test_replays_say_how_far_they_are(study):
    seen = []
    study.replay(5, runs=2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
