import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.report import variance_plot


def test_a_bar_is_item_variance_and_then_rater_variance(make_diagnosis):
    found = [make_diagnosis("a", 2.0, 0.5), make_diagnosis("*", 1.5, 0.5)]
    axes = variance_plot(found).axes[0]
    item, rater = axes.containers
    assert [bar.get_width() for bar in item] == [1.0, 1.0]
    assert [(bar.get_x(), bar.get_width()) for bar in rater] == [(1.0, 2.0), (1.0, 1.5)]
    assert all(bar.get_hatch() for bar in rater)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "all systems"]
    assert "2.00 [1.00, 4.00]" in [text.get_text() for text in axes.texts]


def test_an_infinite_noise_ratio_is_written_as_such(make_diagnosis):
    axes = variance_plot([make_diagnosis("a", float("inf"), 0.5)]).axes[0]
    assert any("∞" in text.get_text() for text in axes.texts)


def test_no_diagnosis_is_refused():
    with pytest.raises(InvalidArgumentError, match="`diagnoses` must hold at least one"):
        variance_plot([])
