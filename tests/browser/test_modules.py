"""The page's own modules, asked one by one in the browser."""

import random
from pathlib import Path

import pytest

import steelyard.collect
from steelyard.collect.tasks.conditions import holds, parse_condition


@pytest.fixture(scope="module")
def ask(browser):
    """Call a function of a module with arguments."""
    static = Path(steelyard.collect.__file__).parent / "static"
    page = browser.new_page()
    kinds = {".js": "text/javascript", ".css": "text/css"}

    def serve_file(route):
        file = static / route.request.url.removeprefix("http://page.test/static/")
        if file.is_file():
            route.fulfill(path=file, content_type=kinds[file.suffix])
        else:
            route.fulfill(body="<!doctype html><title>empty</title>", content_type="text/html")

    page.route("http://page.test/**", serve_file)
    page.goto("http://page.test/")

    def call(module, name, *arguments):
        return page.evaluate(
            """async ([module, name, given]) => (await import(module))[name](...given)""",
            [f"/static/rater/{module}.js", name, list(arguments)],
        )

    yield call
    page.close()


@pytest.mark.parametrize("text", ["plain", "a🕳b", "🇩🇪 flags", "é and é", "שלום 🌍", ""])
def test_offsets_count_code_points_as_python_does(ask, text):
    for point in range(len(text) + 1):
        unit = len(text[:point].encode("utf-16-le")) // 2
        assert ask("text", "codePoints", text, unit) == point
        assert ask("text", "units", text, point) == unit


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([], []),
        ([[5, 9], [0, 3]], [[0, 3], [5, 9]]),
        ([[0, 5], [3, 9]], [[0, 9]]),
        ([[0, 5], [5, 9]], [[0, 9]]),
        ([[0, 9], [2, 4]], [[0, 9]]),
        ([[0, 2], [4, 6], [1, 5]], [[0, 6]]),
    ],
)
def test_ranges_are_sorted_and_merged(ask, ranges, expected):
    assert ask("text", "merged", ranges) == expected


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a c", 1),
        ("a b c", "a x c", 1),
        ("a b c", "x y z", 3),
        ("", "a b", 2),
        ("a b", "", 2),
        ("The dog bark.", "The dog barks!", 2),
        ("kitten sitting on", "sitting kitten on", 2),
    ],
)
def test_changed_words_are_the_edit_distance_between_words(ask, before, after, changed):
    assert ask("text", "wordsChanged", before, after) == changed


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, start=1):
        before, row = row, [i]
        for j, other in enumerate(b, start=1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (word != other)))
    return row[-1]


def test_changed_words_are_the_edit_distance_however_far_apart_they_are(ask):
    rng = random.Random(5)
    for _ in range(60):
        one = [rng.choice("abcd") for _ in range(rng.randrange(40))]
        two = [rng.choice("abcd") for _ in range(rng.randrange(40))]
        assert ask("text", "wordsChanged", " ".join(one), " ".join(two)) == edit_distance(one, two)
    long = [f"w{number}" for number in range(6_000)]
    changed = ["new", *long[1:-1], "new", "more"]
    assert ask("text", "wordsChanged", " ".join(long), " ".join(changed)) == 3


def test_a_text_that_is_written_anew_is_not_counted_word_by_word(ask):
    old, new = (" ".join(f"{letter}{n}" for n in range(6_000)) for letter in "ab")
    assert ask("text", "wordsChanged", old, new) == float("inf")


def test_a_selection_widens_to_whole_words_without_spaces(ask):
    assert ask("text", "wholeWords", "one two, three", 5, 6) == [4, 7]
    assert ask("text", "wholeWords", "one two, three", 3, 8) == [4, 8]
    assert ask("text", "wholeWords", "one  two", 3, 5) is None
    # words of a language that puts no spaces between them
    assert ask("text", "wholeWords", "我们喜欢猫", 0, 1) == [0, 2]


ANSWERS = [
    {},
    {"a": 1},
    {"a": 2},
    {"a": "1"},
    {"a": "yes", "b": 0},
    {"a": [], "b": 1.5},
    {"a": [{"verdict": None}]},
    {"a": [{"verdict": "right"}]},
    {"a": "", "b": True},
]


@pytest.mark.parametrize(
    "text",
    [
        "a = 1",
        "a != 1",
        "a < 2",
        "a <= 2",
        "a > 1",
        "a >= 1.5",
        "a = yes",
        "a != yes",
        "a answered",
        "not a answered",
        "a < 2 and b >= 0",
        "a = yes or b > 1",
        "not (a = 1 or b = 0)",
    ],
)
def test_conditions_hold_on_the_page_when_they_hold_on_the_server(ask, text):
    condition = parse_condition(text)
    for answers in ANSWERS:
        assert ask("conditions", "holds", condition, answers) == holds(condition, answers), answers
