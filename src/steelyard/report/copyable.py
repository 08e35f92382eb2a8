"""Numbers to copy: tab-separated, as spreadsheets paste them, with all their digits."""

import re
from collections.abc import Iterable

from steelyard.questions.comparison import Comparison
from steelyard.report.findings import PromptFindings
from steelyard.tables.formulas import guarded

__all__ = ["copyable_estimates", "copyable_pairs"]

_ESTIMATES = (
    *("system", "estimate", "standard_error", "low", "high", "plain_mean", "data_efficiency"),
    *("n_judgments", "n_outputs", "pool_size"),
)
_PAIRS = (
    *("a", "b", "difference", "standard_error", "low", "high", "simultaneous_low"),
    *("simultaneous_high", "p_value", "verdict", "n_items", "identical_items"),
)


def copyable_estimates(findings: PromptFindings) -> str:
    """Return the estimates of all systems that have one."""
    found = [one.estimate for one in findings.systems if one.estimate is not None]
    rows = [
        (
            one.system,
            one.estimate,
            one.standard_error,
            one.low,
            one.high,
            (one.baseline or one).estimate,
            one.data_efficiency,
            one.n_judgments,
            one.n_outputs,
            one.pool_size,
        )
        for one in found
    ]
    return _lines(_ESTIMATES, rows)


def copyable_pairs(found: Comparison) -> str:
    """Return the difference of every pair."""
    return _lines(_PAIRS, [[getattr(pair, name) for name in _PAIRS] for pair in found.pairs])


def _lines(names: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    return "\n".join("\t".join(map(_cell, row)) for row in (names, *rows))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = re.sub(r"\s+", " ", str(value))
    return guarded(text) if isinstance(value, str) else text
