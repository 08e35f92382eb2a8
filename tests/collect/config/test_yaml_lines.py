import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from steelyard.collect.config.yaml_lines import dotted, parse_yaml, read_yaml
from steelyard.errors import InvalidDataError


def test_every_key_and_entry_has_its_line():
    text = "a: 1\n\n# a comment\nb:\n  - c: x\n    d: y\n  - z\ne: {f: [g,\n  h]}\n"
    document = parse_yaml(text, "x.yaml")
    assert document.data == {"a": 1, "b": [{"c": "x", "d": "y"}, "z"], "e": {"f": ["g", "h"]}}
    assert document.lines == {
        ("a",): 1,
        ("b",): 4,
        ("b", 0): 5,
        ("b", 0, "c"): 5,
        ("b", 0, "d"): 6,
        ("b", 1): 7,
        ("e",): 8,
        ("e", "f"): 8,
        ("e", "f", 0): 8,
        ("e", "f", 1): 9,
    }


def test_words_that_older_yaml_takes_for_booleans_and_dates_are_texts():
    text = "a: yes\nb: no\nc: on\nd: 2024-05-01\ne: 1:30\nf: 010\ng: 'true'\nh: n\ni: =\nj: 1_000\n"
    assert parse_yaml(text, "x").data == {
        "a": "yes",
        "b": "no",
        "c": "on",
        "d": "2024-05-01",
        "e": "1:30",
        "f": 10,
        "g": "true",
        "h": "n",
        "i": "=",
        "j": "1_000",
    }


def test_numbers_booleans_and_nothing_are_what_they_look_like():
    text = "a: -3\nb: 2.5\nc: 1e3\nd: .5\ne: true\nf: False\ng: ~\nh:\ni: null\nj: .inf\nk: -.inf\n"
    data = parse_yaml(text, "x").data
    assert data == {
        "a": -3,
        "b": 2.5,
        "c": 1000.0,
        "d": 0.5,
        "e": True,
        "f": False,
        "g": None,
        "h": None,
        "i": None,
        "j": float("inf"),
        "k": float("-inf"),
    }
    assert [type(data[key]) for key in "abe"] == [int, float, bool]


def test_a_number_of_thousands_of_digits_is_read_and_does_not_raise():
    assert parse_yaml(f"a: {'9' * 5000}", "x").data == {"a": float("inf")}


@pytest.mark.parametrize(
    "text",
    ["Fluent?", "Is it? Really?", "What? No", "a?b?c", "Why? ", "Well?!", "Is it (really?)"],
)
def test_a_question_mark_inside_braces_needs_no_quotation_marks(text):
    got = parse_yaml(f"a: {{label: {text}, b: [x?, {text}], c: 1}}", "x").data
    assert got == {"a": {"label": text.strip(), "b": ["x?", text.strip()], "c": 1}}


def test_an_alias_repeats_what_it_stands_for():
    text = "a: &levels\n  - {value: 1}\nb: *levels\n"
    document = parse_yaml(text, "x")
    assert document.data["b"] == document.data["a"] == [{"value": 1}]
    assert document.lines["b", 0, "value"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x.yaml, line 1: must hold keys with values; got nothing"),
        ("- a", r"x.yaml, line 1: must hold keys with values; got something else"),
        ("just text", r"x.yaml, line 1: must hold keys"),
        (
            "a: 1\nb:\n  c: 1\n  c: 2\n",
            r"x.yaml, line 4, key b.c: the key is there twice, first on line 3",
        ),
        ("a: 1\nb:\n\t- c\n", r"x.yaml, line 3: is not YAML: a tab cannot indent: use spaces"),
        ("a: [1, 2\nb: 3\n", r"x.yaml, line 2: is not YAML"),
        ("a: 'open\n", r"x.yaml, line \d: is not YAML"),
        ("a: 1\n---\nb: 2\n", r"x.yaml, line 2: must hold one document"),
        ("1: a\n", r"x.yaml, line 1: a key must be text"),
        ("a: 1\n? [b]\n: 2\n", r"x.yaml, line 2: a key must be text"),
        ("a: !!python/object:os.system x\n", r"x.yaml, line 1: the tag .* is not known"),
        ("a: !!int x\n", r"x.yaml, line 1: the tag .* is not known"),
        ("a: &a [*a]\n", r"x.yaml, line 1: an alias stands inside what it repeats"),
        ("a: *b\n", r"x.yaml, line 1: is not YAML: found undefined alias 'b'"),
        ("a: 1\nb: \x01\n", r"x.yaml, line 2: is not YAML: holds the control character U\+0001"),
        ("a: " + "[" * 600, r"x.yaml: is nested too deeply"),
    ],
)
def test_what_is_not_right_is_named_in_one_line(text, message):
    with pytest.raises(InvalidDataError, match=message) as caught:
        parse_yaml(text, "x.yaml")
    assert "\n" not in str(caught.value)


def test_aliases_of_aliases_do_not_fill_the_memory():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 9)]
    with pytest.raises(InvalidDataError, match="holds too much"):
        parse_yaml("\n".join(lines), "x")


def test_a_file_is_read_with_or_without_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: \xe2\x96\xa0\n")
    assert read_yaml(path).data == {"a": "■"}
    assert read_yaml(path).name == "a.yaml"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InvalidDataError, match=r"none.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe4\n")
    with pytest.raises(InvalidDataError, match=r"latin.yaml: must be UTF-8"):
        read_yaml(tmp_path / "latin.yaml")


def test_a_missing_key_has_the_line_of_what_should_hold_it():
    document = parse_yaml("a: 1\nb:\n  - c: 1\n", "x.yaml")
    assert str(document.error(("b", 0, "d"), "is\nmissing")) == (
        "x.yaml, line 3, key b[0].d: is missing"
    )
    assert str(document.error((), "wrong")) == "x.yaml, line 1: wrong"


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), PLAIN, min_size=1, max_size=4))
def test_what_the_library_writes_is_read_back(data):
    # with tags written out, so that no text looks like something else
    assert parse_yaml(yaml.dump(data, allow_unicode=True, default_style='"'), "x").data == data


def test_key_paths_are_written_as_one_word():
    assert dotted(("widgets", 0, "levels", 1, "value")) == "widgets[0].levels[1].value"
