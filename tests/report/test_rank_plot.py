import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.questions.ranks import Rank
from steelyard.report.rank_plot import rank_plot, rank_words


def ranks(*spans):
    return [
        Rank(system=f"s{i}", estimate=-float(i), low=low, high=high)
        for i, (low, high) in enumerate(spans)
    ]


def test_each_system_has_a_bar_over_its_ranks_and_says_them():
    axes = rank_plot(ranks((1, 2), (1, 2), (3, 3)), [["s0", "s1"], ["s2"]]).axes[0]
    bars = [tuple(line.get_xdata()) for line in axes.get_lines() if len(line.get_xdata()) == 2]
    assert bars == [(0.85, 2.15), (0.85, 2.15), (2.85, 3.15)]
    assert [text.get_text() for text in axes.texts] == ["1 to 2", "1 to 2", "3"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["s0", "s1", "s2"]


def test_every_second_group_is_shaded():
    axes = rank_plot(ranks((1, 1), (2, 3), (2, 3)), [["s0"], ["s1", "s2"]]).axes[0]
    [shade] = axes.patches
    assert (shade.get_y(), shade.get_height()) == (0.5, 2.0)


def test_all_ranks_of_25_systems_are_in_sight_with_few_ticks():
    axes = rank_plot(ranks(*[(max(i - 3, 1), min(i + 3, 25)) for i in range(1, 26)])).axes[0]
    assert axes.get_xlim() == (0.5, 25.5)
    assert axes.get_xticks().tolist() == [1, 5, 10, 15, 20, 25]


def test_a_rank_that_is_known_is_one_number():
    assert [rank_words(one) for one in ranks((2, 2), (1, 4))] == ["2", "1 to 4"]


def test_no_ranks_are_refused():
    with pytest.raises(InvalidArgumentError, match="`ranks` must hold at least one"):
        rank_plot([])
