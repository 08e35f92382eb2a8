"""The tables of the report: the numbers behind the figures."""

from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.numbers import (
    decimals_for,
    interval,
    level_name,
    number,
)
from steelyard.questions.estimates import Baseline, Ends, Estimate
from steelyard.report.findings import PromptFindings, SystemFindings

__all__ = [
    "Table",
    "estimates_table",
    "score_decimals",
]

# More metrics than this are folded away.
_METRICS = 10


@dataclass(frozen=True)
class Table:
    """A table of texts, ready to be shown.

    Attributes
    ----------
    caption : str
        What it shows.
    columns : tuple of str
        Heads of the columns; the first is that of the rows' names.
    rows : tuple of tuples of str
        The name of each row and its cells.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def score_decimals(findings: PromptFindings) -> int:
    """Return how many decimals of a score its intervals can bear."""
    return decimals_for(one.estimate.half_width for one in findings.systems if one.estimate)


def estimates_table(findings: PromptFindings, *, level: float) -> Table:
    """Return the estimates of all systems beside their plain means.

    Parameters
    ----------
    findings : PromptFindings
        What was found under a prompt.
    level : float
        Level of the intervals, for the heads.
    """
    decimals = score_decimals(findings)
    ranked = any(one.estimate and one.estimate.rank_low for one in findings.systems)
    wider = any(one.estimate and one.estimate.new_outputs for one in findings.systems)

    def cells(one: SystemFindings) -> Iterator[str]:
        found, plain = one.estimate, one.plain
        if ranked:
            yield _rank(found)
        yield from _estimate(found, decimals)
        if wider:
            yield _interval(found and found.new_outputs, decimals)
        yield from _estimate(plain, decimals)
        yield number(found.data_efficiency if found else None)
        yield f"{found.n_judgments:,}" if found else number(None)
        yield _judged(found)

    name = f"{level_name(level)} interval"
    columns = (
        "system",
        *(["rank"] if ranked else []),
        "mean",
        name,
        *(["for new outputs"] if wider else []),
        *("plain mean", name, "data efficiency"),
        "judgments",
        "outputs judged",
    )
    return Table(
        "Mean human score of each system",
        columns,
        tuple((one.system, *cells(one)) for one in findings.systems),
    )


def _rank(found: Estimate | None) -> str:
    if found is None or found.rank_low is None:
        return number(None)
    same = found.rank_low == found.rank_high
    return f"{found.rank_low}" if same else f"{found.rank_low} to {found.rank_high}"


def _interval(found: Estimate | Ends | None, decimals: int) -> str:
    return interval(found.low, found.high, decimals) if found else number(None)


def _estimate(found: Estimate | Baseline | None, decimals: int) -> tuple[str, str]:
    return number(found.estimate if found else None, decimals), _interval(found, decimals)


def _judged(found: Estimate | None) -> str:
    if found is None:
        return number(None)
    return f"{found.n_outputs:,}" + (f" of {found.pool_size:,}" if found.pool_size else "")
