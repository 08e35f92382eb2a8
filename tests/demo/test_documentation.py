"""The page about the built-in campaign says what the code does."""

from pathlib import Path

import pytest

from steelyard.demo.prompts import LENIENCY_VARIANCE, PROMPTS
from steelyard.demo.systems import DIFFICULTY_SLOPE, RATES

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "demo-campaign.md"


@pytest.fixture(scope="module")
def rows():
    """Cells of every table row, by the row's first cell."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    table = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in cells] for cells in table]


def numbers(cells):
    return [float(cell or 0) for cell in cells]


@pytest.mark.parametrize("system", RATES)
def test_rates_are_those_of_the_code(rows, system):
    cells = next(cells for cells in rows if cells[0] == f"`{system}`")
    rates = RATES[system]
    assert numbers(cells[2:]) == [
        rates.misstate,
        rates.leave_out,
        rates.embroider,
        rates.break_off,
        rates.repeat,
    ]


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_prompts_are_those_of_the_code(rows, prompt):
    cells = next(cells for cells in rows if cells[0] == f"`{prompt.name}`")
    assert numbers(cells[2].split(",")) == list(prompt.thresholds)
    costs = prompt.costs
    assert numbers(cells[3:]) == [
        prompt.flawless,
        costs.wrong,
        costs.missing,
        costs.unsupported,
        costs.repeated,
        costs.broken,
    ]


def test_constants_are_those_of_the_code():
    text = PAGE.read_text(encoding="utf-8")
    assert rf"$\tau^2 = {LENIENCY_VARIANCE}$" in text
    assert f"log odds of every mistake rise by {DIFFICULTY_SLOPE}" in text
