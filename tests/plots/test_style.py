import matplotlib as mpl
from hypothesis import given
from hypothesis import strategies as st

from steelyard.names import shown_names
from steelyard.plots.style import styled


def test_a_style_is_gone_when_its_figure_is_made():
    before = dict(mpl.rcParams)
    with styled():
        assert mpl.rcParams["text.parse_math"] is False
    assert dict(mpl.rcParams) == before


def test_a_style_does_not_depend_on_the_users_settings():
    with mpl.rc_context({"lines.linewidth": 9.0, "axes.grid": True}), styled():
        assert mpl.rcParams["lines.linewidth"] == mpl.rcParamsDefault["lines.linewidth"]
        assert mpl.rcParams["axes.grid"] is False


def test_short_names_stay_and_long_ones_keep_both_ends():
    assert shown_names(["abc", "x" * 20 + "-v1"], width=10) == ["abc", "xxxxx…x-v1"]


def test_control_characters_have_no_place_in_a_figure():
    assert shown_names(["a\x00b\nc"]) == ["a b c"]


@given(st.lists(st.text(min_size=1, max_size=40), unique=True, max_size=12), st.integers(9, 30))
def test_shown_names_are_short_printable_and_different(names, width):
    shown = shown_names(names, width)
    assert len(set(shown)) == len(names)
    assert all(len(name) <= width for name in shown)
    assert all(c.isprintable() for name in shown for c in name)


def test_what_long_names_share_is_left_out_where_they_differ_only_inside():
    names = [f"organisation-{i % 5}/model-{i:02d}-instruct" for i in range(25)]
    shown = shown_names(names)
    assert shown[7] == "…2/model-07…"
    assert len(set(shown)) == 25
    assert shown_names([*names, "all systems"]) == [*shown, "all systems"]


def test_short_names_keep_what_they_share():
    assert shown_names(["model-a", "model-b"]) == ["model-a", "model-b"]
