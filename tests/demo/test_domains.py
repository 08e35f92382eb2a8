import itertools
import re

import numpy as np
import pytest

from steelyard.demo.domains import read_domains
from steelyard.demo.grammar import render, segments, visible_slots

VOWEL = "aeiouAEIOU"


def texts(domain):
    """Every form of a domain with every set of its details left out."""
    rng = np.random.default_rng(0)
    details = list(domain.details)
    for form in (*domain.references, *domain.paraphrases):
        for size in range(len(details) + 1):
            for dropped in itertools.combinations(details, size):
                facts = domain.facts(rng)
                yield render(segments(form, rng=rng), facts, dropped=dropped)


@pytest.fixture(params=read_domains(), ids=lambda domain: domain.name)
def domain(request):
    return request.param


def test_every_form_states_every_fact_once_and_has_every_detail(domain):
    rng = np.random.default_rng(0)
    for form in (*domain.references, *domain.paraphrases):
        parts = segments(form, rng=rng)
        assert sorted(visible_slots(parts)) == sorted(domain.slots)
        assert sorted(part.detail for part in parts if part.detail) == sorted(domain.details)


def test_every_text_is_well_formed_whatever_is_left_out(domain):
    for text in texts(domain):
        assert text[0].isupper()
        assert text.endswith(".")
        assert not re.search(r"  | [.,;:]|[.,;:]{2}|[\[\]<>{}|*@#]|\(n\)", text), text
        for sentence in re.split(r"(?<=[.]) ", text):
            assert sentence[0].isupper() or sentence[0].isdigit(), text


def test_articles_agree_with_what_follows(domain):
    for text in texts(domain):
        assert not re.search(rf"\b[Aa] [{VOWEL}]", text), text
        assert not re.search(rf"\b[Aa]n (?!hour\b)[^{VOWEL}]", text), text


def test_no_word_is_written_twice_in_a_row(domain):
    for text in texts(domain):
        assert not re.search(r"\b([A-Za-z]+) \1\b", text), text


def test_full_texts_have_at_most_three_sentences(domain):
    rng = np.random.default_rng(0)
    for form in (*domain.references, *domain.paraphrases):
        text = render(segments(form, rng=rng), domain.facts(rng))
        assert len(re.findall(r"[.](?= |$)", text)) <= 3


def test_weights_are_positive_and_claims_are_sentences(domain):
    assert all(0 < slot.weight <= 1.5 for slot in domain.slots.values())
    assert all(0 < weight <= 1.5 for weight in domain.details.values())
    assert len(domain.details) >= 2
    assert len(set(domain.claims)) >= 4
    assert all(re.fullmatch(r"[A-Z][^.]*\.", claim) for claim in domain.claims)
