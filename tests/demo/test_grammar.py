import numpy as np
import pytest

from steelyard.demo.grammar import Domain, Segment, Slot, render, segments, visible_slots
from steelyard.demo.words import pick

FORM = "<Rain|Snow> fell in {town}[when: on {day}]. [why:It was {cause}.]"


def test_a_form_is_cut_into_segments_with_its_wording_chosen():
    parts = segments(FORM, rng=np.random.default_rng(0))
    assert parts[0].text in {"Rain fell in {town}", "Snow fell in {town}"}
    assert parts[1:] == (
        Segment(" on {day}", "when"),
        Segment(". "),
        Segment("It was {cause}.", "why"),
    )


def test_every_wording_is_chosen_sometimes():
    rng = np.random.default_rng(0)
    assert {segments(FORM, rng=rng)[0].text[:4] for _ in range(50)} == {"Rain", "Snow"}


def test_dropped_details_leave_a_sound_text():
    parts = segments(FORM.replace("<Rain|Snow>", "rain"), rng=np.random.default_rng(0))
    facts = {"town": "Kelsby", "day": "Monday", "cause": "a cold front"}
    assert render(parts, facts) == "Rain fell in Kelsby on Monday. It was a cold front."
    assert render(parts, facts, dropped={"when", "why"}) == "Rain fell in Kelsby."
    assert visible_slots(parts) == ["town", "day", "cause"]
    assert visible_slots(parts, {"when"}) == ["town", "cause"]


@pytest.mark.parametrize(
    ("word", "article"),
    [
        ("apple", "an"),
        ("car", "a"),
        ("hour", "an"),
        ("house", "a"),
        ("university", "a"),
        ("unusual", "an"),
        ("one-way", "a"),
        ("8-week", "an"),
        ("18-year-old", "an"),
        ("180-seat", "a"),
    ],
)
def test_articles_follow_the_sound(word, article):
    assert render([Segment("there is a(n) {x} here.")], {"x": word}) == (
        f"There is {article} {word} here."
    )


def test_facts_of_an_item_are_all_different():
    domain = Domain(
        name="x",
        slots={"a": Slot(pick("1", "2")), "b": Slot(pick("1", "2"))},
        details={},
        references=(),
        paraphrases=(),
        claims=(),
    )
    rng = np.random.default_rng(0)
    assert {tuple(sorted(domain.facts(rng).values())) for _ in range(20)} == {("1", "2")}
