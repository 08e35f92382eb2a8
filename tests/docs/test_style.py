"""What users read is plain English: the tics that STYLE names are found."""

import re
from pathlib import Path

import click
import pytest

from steelyard.cli.main import steelyard

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
TICS = {
    r"\bheld against\b": "compared with",
    r"\bfor to\b": "to",
    r"\b(?:judgment|word|row|line|file|command|screen) an? (?:output|item|system|rater|page)\b": "per, for each",
    r"\ban own\b": "its own",
    r"\bnot told apart\b": "cannot be told apart",
    r"\blearned-control\b|\bborrowed\b": "a word that people know",
    r"\btells (?:which|whether|how|what)\b": "shows",
}


def tics(text):
    """Return the tics in a text, each with what to say instead."""
    plain = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    return [
        f"{found[0]!r}: say {instead!r}"
        for tic, instead in TICS.items()
        for found in re.finditer(tic, re.sub(r"\s+", " ", plain), flags=re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_tics(page):
    assert tics(page.read_text(encoding="utf-8")) == []


def test_help_has_no_tics():
    context = click.Context(steelyard)
    for name in steelyard.list_commands(context):
        assert tics(steelyard.get_command(context, name).get_help(context)) == [], name


def test_tics_are_found():
    assert len(tics("The one is held against the other, a judgment an output.")) == 2
