import shutil

import pytest

from steelyard.paper import read_release, reproduce
from steelyard.paper.claims import claims, scientific


def test_what_was_computed_apart_is_the_same(found):
    same = {claim.what for claim in claims(found) if claim.verdict == "same"}
    assert {
        "Bias study, 80 means",
        "210 correlations of metrics and human scores",
        "90 variance components of single systems",
    } <= same


def test_what_the_made_data_cannot_reproduce_differs(found):
    by = {claim.what: claim for claim in claims(found)}
    assert by["Modes of agreement, CNN/Daily Mail"].verdict == "differs"
    assert by["Noise ratio \N{GREEK SMALL LETTER GAMMA} of Edit"].verdict == "differs"


def test_claims_about_a_task_that_is_not_there_are_left_out(directory, tmp_path):
    shutil.copy(directory / "cnndm.jsonl", tmp_path)
    few = claims(reproduce(read_release(tmp_path), draws=100))
    assert not any("MS MARCO" in claim.what or claim.printed == "released" for claim in few)
    assert any("Edit" in claim.what for claim in few)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (3.6e-15, "4 \N{MULTIPLICATION SIGN} 10⁻¹⁵"),
        (20.0, "2 \N{MULTIPLICATION SIGN} 10¹"),
    ],
)
def test_small_numbers_are_readable(value, text):
    assert scientific(value) == text
