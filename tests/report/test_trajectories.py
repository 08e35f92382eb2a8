import numpy as np
import pytest

from steelyard import trajectory
from steelyard.errors import InvalidArgumentError
from steelyard.report.files import save_figure
from steelyard.report.trajectories import trajectory_plot
from steelyard.study import SystemTrajectory


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    items = np.repeat(np.arange(30), 2)
    metric = rng.normal(size=30)[items]
    followed = trajectory(metric + rng.normal(size=60), metric, items=items, draws=100)
    return [SystemTrajectory(f"system {k}", "overall", ("m",), followed) for k in range(3)]


def test_each_system_has_a_panel_with_four_curves(found):
    figure = trajectory_plot(found)
    assert len(figure.axes) == 3
    for axes in figure.axes:
        assert len(axes.get_lines()) == 4
        assert axes.get_ylim()[0] == 0


def test_figures_are_written_the_same_every_time(found, tmp_path):
    for kind in ("svg", "pdf", "png"):
        first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
        save_figure(trajectory_plot(found), first)
        save_figure(trajectory_plot(found), second)
        assert first.read_bytes() == second.read_bytes()


def test_other_files_are_refused(found, tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"must end in \.svg"):
        save_figure(trajectory_plot(found), tmp_path / "a.docx")
    with pytest.raises(InvalidArgumentError, match="existing folder"):
        save_figure(trajectory_plot(found), tmp_path / "nowhere" / "a.svg")
