import pytest
from pydantic import TypeAdapter, ValidationError

from steelyard.collect.tasks.widgets import AnyWidget, placeholders

WIDGET = TypeAdapter(AnyWidget)
LEVELS = [{"value": 0}, {"value": 1}]


def test_keys_are_digits_in_order_unless_some_are_declared():
    def keys(levels):
        widget = WIDGET.validate_python(
            {"id": "a", "kind": "likert", "label": "A", "levels": levels}
        )
        return [level["key"] for level in widget.public()["levels"]]

    assert keys(LEVELS) == ["1", "2"]
    assert keys([{"value": 0, "key": "x"}, {"value": 1}]) == ["x", None]
    # a keyboard has no tenth digit to spare
    assert keys([{"value": k} for k in range(10)])[-2:] == ["9", None]


def test_labels_are_the_values_unless_declared():
    gate = WIDGET.validate_python(
        {
            "id": "a",
            "kind": "gate",
            "label": "A",
            "options": [{"value": "x"}, {"value": "y", "label": "Why"}],
        }
    )
    assert [option["label"] for option in gate.public()["options"]] == ["x", "Why"]


def test_a_key_may_be_written_as_a_number():
    widget = WIDGET.validate_python(
        {
            "id": "a",
            "kind": "likert",
            "label": "A",
            "levels": [{"value": 0, "key": 0}, {"value": 1}],
        }
    )
    assert widget.levels[0].key == "0"
    with pytest.raises(ValidationError):
        WIDGET.validate_python(
            {
                "id": "a",
                "kind": "likert",
                "label": "A",
                "levels": [{"value": 0, "key": True}, {"value": 1}],
            }
        )


def test_what_is_dumped_can_be_read_again():
    widget = WIDGET.validate_python(
        {
            "id": "a",
            "kind": "likert",
            "label": "A",
            "levels": LEVELS,
            "required": "b < 2 and c answered",
        }
    )
    assert WIDGET.validate_python(widget.model_dump()) == widget


def test_only_errors_and_comments_may_be_left_out_by_default():
    spans = {"field": "output", "severities": [{"value": "minor", "weight": 1}]}
    for kind, more, required in (
        ("likert", {"levels": LEVELS}, True),
        ("slider", {}, True),
        ("preference", {}, True),
        ("post-edit", {"field": "output"}, True),
        ("confirm", {"text": "So?"}, True),
        ("spans", spans, False),
        ("comment", {}, False),
    ):
        widget = WIDGET.validate_python({"id": "a", "kind": kind, "label": "A"} | more)
        assert widget.required is required


def test_a_slider_goes_from_0_to_100_by_default():
    slider = WIDGET.validate_python({"id": "a", "kind": "slider", "label": "A"}).public()
    assert (slider["min"], slider["max"], slider["step"]) == (0, 100, 1)


@pytest.mark.parametrize("text", ["{", "a}", "{}", "{a.b}", "{a!r}", "{0}", "{{a}}", "{a b}"])
def test_braces_hold_one_name_each(text):
    with pytest.raises(ValueError, match="must have a name in each pair of braces"):
        placeholders(text)


def test_placeholders_are_listed_in_order():
    assert placeholders("“{output}” answers “{input}”: {by-how-much}") == [
        *("output", "input", "by-how-much")
    ]
