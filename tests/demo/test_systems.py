import re

import numpy as np
import pytest

from steelyard.demo.grammar import visible_slots
from steelyard.demo.systems import SYSTEMS, Defects, _Draft, outputs, task


@pytest.fixture(scope="module")
def written(domains):
    """Four hundred items with what each system wrote."""
    rng = np.random.default_rng(1)
    items = [task(domains[i % len(domains)], rng=rng) for i in range(400)]
    return [(item, outputs(item, rng=rng)) for item in items]


def test_the_input_lists_the_facts_of_the_reference_and_no_other(written):
    for item, _ in written:
        given = visible_slots(item.wording, item.absent)
        for slot, value in item.facts.items():
            assert (f"{slot}: {value}" in item.input) == (slot in given)
            if slot in given:
                assert value[1:] in item.reference


def test_every_system_writes_a_text_of_its_own_kind(written):
    for item, texts in written:
        assert tuple(texts) == SYSTEMS
        assert all(text.text[0].isupper() and text.text.endswith(".") for text in texts.values())
        assert len(texts["terse"].text) <= len(texts["copy"].text) + 25
        for system in ("copy", "terse"):
            defects = texts[system].defects
            assert defects.unsupported == defects.repeated == defects.broken == 0
        claimed = any(claim in texts["fluent"].text for claim in item.domain.claims)
        assert claimed == bool(texts["fluent"].defects.unsupported)


def test_a_text_without_defects_states_every_given_fact(written):
    flawless = 0
    for item, texts in written:
        for text in texts.values():
            if text.defects == Defects():
                flawless += 1
                for slot in visible_slots(item.wording, item.absent):
                    assert item.facts[slot][1:] in text.text
    assert flawless > 100


def test_a_wrong_fact_replaces_the_true_one(written):
    found = 0
    for item, texts in written:
        defects = texts["copy"].defects
        if defects.wrong and not defects.missing:
            found += 1
            assert any(
                item.facts[slot][1:] not in texts["copy"].text
                for slot in visible_slots(item.wording, item.absent)
            )
    assert found > 20


def test_a_wrong_fact_after_the_break_does_not_count(domains):
    rng = np.random.default_rng(2)
    spared = 0
    for number in range(600):
        item = task(domains[number % len(domains)], rng=rng)
        draft = _Draft(item, item.wording, {}, item.absent).misstate(0.9, rng=rng)
        whole = draft.text()
        expected = sum(item.domain.slots[slot].weight for slot in draft.errors)
        assert whole.defects.wrong == pytest.approx(expected)
        half = " ".join(whole.text.split()[: len(whole.text.split()) // 2])
        spared += draft.wrong(half) < expected
    assert spared > 100


def test_equal_texts_of_an_item_have_equal_defects(written):
    equal = 0
    for _, texts in written:
        for one in texts.values():
            for other in texts.values():
                if one is not other and one.text == other.text:
                    equal += 1
                    assert one.defects == other.defects
    assert equal > 50


def test_loopy_repeats_phrases_and_breaks_off_where_its_defects_say_so(written):
    for _, texts in written:
        text, defects = texts["loopy"].text, texts["loopy"].defects
        bare = re.sub(r"[.,;:]", "", text)
        if defects.repeated:
            assert re.search(r"\b(\S+(?: \S+)*) \1\b", bare), text
        if defects.broken:
            assert re.search(r" (a|and|at|by|for|from|in|of|on|the|to|with)\.$", text), text


def test_hard_items_have_more_defects(written):
    difficulty = [item.difficulty for item, _ in written]
    wrong = [sum(text.defects.wrong for text in texts.values()) for _, texts in written]
    missing = [sum(text.defects.missing for text in texts.values()) for _, texts in written]
    assert np.corrcoef(difficulty, wrong)[0, 1] > 0.2
    assert np.corrcoef(difficulty, missing)[0, 1] > 0.2
