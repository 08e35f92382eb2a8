"""What `.plot()` draws; looked at by eye when it changes."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from steelyard import Study
from steelyard.errors import InvalidArgumentError
from steelyard.questions.comparisons import Comparisons
from steelyard.questions.diagnosis import Diagnoses
from steelyard.questions.estimates import Estimates
from steelyard.questions.preferences import PreferenceComparison
from steelyard.questions.preferred_pairs import SystemStrength


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture
def axes():
    return Figure().add_subplot()


def campaign(systems, prompts=("overall",)):
    """Thirty of 40 outputs of each system judged twice."""
    rng = np.random.default_rng(0)
    outputs, judgments = [], []
    for number, system in enumerate(systems):
        good = rng.normal(size=40)
        outputs += [
            {"item": i, "system": system, "output": f"{system} {i}", "m": good[i] + rng.normal()}
            for i in range(40)
        ]
        judgments += [
            {
                "item": i,
                "system": system,
                "rater": f"r{rater}",
                "prompt": prompt,
                "score": 0.4 * number + good[i] + rng.normal(),
            }
            for prompt in prompts
            for i in range(30)
            for rater in rng.choice(6, 2, replace=False)
        ]
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))


@pytest.fixture(scope="module")
def study():
    return campaign(["a", "$b$", "c"], ("fluency", "overall"))


@pytest.fixture(scope="module")
def compared(study):
    return study.compare(margin=0.1)


@pytest.fixture(scope="module")
def diagnosed(study):
    return study.diagnose()


def labels(axes):
    return [text.get_text() for text in axes.get_yticklabels()]


def lines(axes, *, width):
    """Return the ends of all lines of this width that are not across the axes."""
    drawn = [line for line in axes.get_lines() if line.get_linewidth() == width]
    return [tuple(line.get_xdata()) for line in drawn if len(set(line.get_ydata())) == 1]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_estimates_stand_in_rows_under_their_prompts(study, axes):
    found = study.estimate()
    assert found.plot(axes) is axes
    assert labels(axes) == ["prompt fluency", "a", "$b$", "c", "prompt overall", "a", "$b$", "c"]
    assert lines(axes, width=2.6) == [(one.low, one.high) for one in found]
    assert axes.get_xlabel() == "mean human score"
    assert {"estimate", "plain mean", "95% interval"} <= set(legend(axes))


def test_one_prompt_is_named_at_the_axis(study, axes):
    study.estimate(prompts="overall").plot(axes)
    assert labels(axes) == ["a", "$b$", "c"]
    assert axes.get_xlabel() == "mean human score, prompt overall"


def test_without_axes_a_new_figure_is_made(study):
    axes = study.estimate().plot()
    assert plt.fignum_exists(axes.figure.number)


def test_names_are_no_formulas(study, axes):
    study.estimate(prompts="overall").plot(axes)
    axes.figure.draw_without_rendering()
    assert axes.get_yticklabels()[1].get_parse_math() is False


def test_differences_stand_beside_zero_and_the_margin(compared, axes):
    found = compared["overall"]
    assert found.plot(axes) is axes
    assert labels(axes) == ["a − $b$", "a − c", "$b$ − c"]  # noqa: RUF001
    assert lines(axes, width=2.6) == [(pair.low, pair.high) for pair in found.pairs]
    outer = [(pair.simultaneous_low, pair.simultaneous_high) for pair in found.pairs]
    assert lines(axes, width=0.9) == outer
    across = {line.get_xdata()[0] for line in axes.get_lines() if len(set(line.get_ydata())) == 2}
    assert across == {0.0, -0.1, 0.1}


def test_marks_of_verdicts_differ_without_colour(compared, axes):
    first, second, third = compared["overall"].pairs
    pairs = (
        replace(first, verdict="a"),
        replace(second, verdict="undecided"),
        replace(third, verdict="equivalent"),
    )
    replace(compared["overall"], pairs=pairs).plot(axes)
    marks = [line for line in axes.get_lines() if line.get_linestyle() == "None"]
    assert len({(mark.get_marker(), mark.get_markerfacecolor()) for mark in marks}) == 3
    assert legend(axes)[:3] == ["one is better", "undecided", "equivalent"]


def test_many_systems_are_drawn_by_rank(axes):
    names = [f"maker/a-model-with-a-very-long-name-number-{n:02d}-instruct" for n in range(8)]
    found = campaign(names).compare()
    found.plot(axes)
    [one] = found
    assert len(one.pairs) == 28
    assert len(labels(axes)) == len(set(labels(axes))) == 8
    assert all(len(label) <= 40 for label in labels(axes))
    assert lines(axes, width=2.6) == [(rank.low, rank.high) for rank in one.ranks]
    assert axes.get_xlabel() == "rank, 1 is the best, prompt overall"


def test_many_systems_under_preferences_are_drawn_by_strength(compared, axes):
    [pair, *_] = compared["overall"].pairs
    pairs = tuple(replace(pair, a=f"s{number}") for number in range(21))
    strengths = tuple(
        SystemStrength(system=f"s{n}", strength=-n, standard_error=1.0, low=-n - 2, high=2 - n)
        for n in range(7)
    )
    shared = {
        key: value
        for key, value in vars(compared["overall"]).items()
        if key not in {"pairs", "sentence"}
    }
    PreferenceComparison(
        **shared | {"ranks": ()},
        pairs=pairs,
        strengths=strengths,
        order_effect=None,
        order_sentence="",
    ).plot(axes)
    assert labels(axes) == [f"s{n}" for n in range(7)]
    assert lines(axes, width=2.6) == [(-n - 2, 2 - n) for n in range(7)]
    assert axes.get_xlabel() == "strength, wins minus losses, prompt overall"


def test_many_pairs_without_ranks_are_still_drawn(compared, axes):
    [pair, *_] = compared["overall"].pairs
    pairs = tuple(replace(pair, a=f"s{number}") for number in range(30))
    replace(compared["overall"], pairs=pairs, ranks=()).plot(axes)
    assert len(labels(axes)) == 30


def test_a_diagnosis_is_drawn_by_how_much_each_system_is_favoured(diagnosed, axes):
    diagnosed.plot(axes)
    assert labels(axes) == ["a", "$b$", "c"]
    offsets = [one.offset for one in diagnosed[0].judges[0].offsets]
    assert lines(axes, width=2.6) == [(one.low, one.high) for one in offsets]
    with pytest.raises(InvalidArgumentError, match="offsets need a metric and two systems"):
        replace(diagnosed[0], judges=()).plot(Figure().add_subplot())


@pytest.mark.parametrize("kind", [Estimates, Comparisons, Diagnoses])
def test_nothing_is_not_drawn(kind, axes):
    with pytest.raises(InvalidArgumentError, match="nothing to draw: there are no results"):
        kind([]).plot(axes)


def test_reprs_are_one_line_and_tables_escape_text(study, compared, diagnosed):
    made = study.plan("m", prompt="overall", half_width=0.3)
    watched = study.monitor(half_width=0.5)
    drawn = study.sample(5, seed=1)
    found = study.estimate()
    several = (found, compared, diagnosed, watched)
    single = (*(one[0] for one in several), made, drawn)
    for one in (*several, *single):
        assert repr(one).startswith(f"<{type(one).__name__}")
        assert "\n" not in repr(one)
    assert all(one._repr_html_().startswith("<table>") for one in several)


def test_matplotlib_and_pydantic_are_loaded_only_when_they_are_used():
    code = (
        "import sys; from steelyard import Study; "
        "sys.exit(bool({'matplotlib', 'pydantic'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
