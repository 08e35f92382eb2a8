"""The numbers as data frames, for files that other programs read."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import polars as pl

from steelyard.paper.claims import PaperClaim
from steelyard.paper.modes import Modes
from steelyard.paper.printed import PaperComponents
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.trajectories import Followed
from steelyard.single.components import VarianceComponents
from steelyard.single.interval import Interval

__all__ = ["frames"]

# Every so many judgments of a trajectory are written.
_STEP = 10
_CURVES = ("plain", "corrected", "noiseless_raters", "perfect_metric")


def frames(found: Reproduction, claims: list[PaperClaim]) -> dict[str, pl.DataFrame]:
    """Return all tables by name, with full precision."""
    tables = {
        "claims": [
            {name: " ".join(text.split()) for name, text in vars(claim).items()} for claim in claims
        ],
        "variances": [_row(row) for row in found.variances],
        "correlations": [_row(row) for row in found.correlations],
        "bias-study": [_row(row) for row in found.bias],
        "fresh-gains": [_row(row) for row in found.fresh],
        "modes": [row for modes in found.modes for row in _modes(modes)],
        "data-efficiencies": [
            _row(found.limits_of(one)) | _efficiencies(one) for one in found.followed
        ],
        "trajectories": [row for one in found.followed for row in _lengths(one)],
        "released-differences": [_row(row) for row in found.differences],
    }
    return {
        name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in tables.items() if rows
    }


def _row(record: Any) -> dict[str, Any]:
    """Return a record as columns, an interval or a triple of components as three."""
    row: dict[str, Any] = {}
    for field in fields(record):
        row |= _columns(field.name, getattr(record, field.name))
    return row


def _columns(name: str, value: Any) -> dict[str, Any]:
    match value:
        case Interval():
            return {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        case PaperComponents():
            return {f"{name}_{part}": number for part, number in value._asdict().items()}
        case VarianceComponents():
            return _columns(f"item_{name}", value.item) | _columns(
                f"noise_ratio_{name}", value.noise_ratio
            )
        case (human, metric):
            return {f"human_{name}": human, f"metric_{name}": metric}
    return {name: value}


def _modes(modes: Modes) -> Iterator[dict[str, object]]:
    names = ("good_high", "bad_high", "good_low", "bad_low")
    kinds = {"printed": modes.printed.counts, "counted": modes.counts, "ties as bad": modes.strict}
    for kind, counts in kinds.items():
        if counts is not None:
            shown = dict(zip(names, counts, strict=True))
            yield {"task": modes.printed.task, "kind": kind, **shown}


def _efficiencies(one: Followed) -> dict[str, object]:
    row: dict[str, object] = {}
    released = (one.released, one.released_noiseless, one.released_perfect)
    for name, theirs in zip(_CURVES[1:], released, strict=True):
        curve = getattr(one.trajectory, name)
        row |= {
            f"{name}_released_length_ratio": theirs,
            f"{name}_length_ratio": curve.length_ratio,
            f"{name}_trajectory": curve.data_efficiency,
            f"{name}_monte_carlo_error": curve.monte_carlo_error,
        }
    return row


def _lengths(one: Followed) -> Iterator[dict[str, object]]:
    curves = one.trajectory
    names = dict(zip(("task", "prompt", "system", "metric"), one.key, strict=True))
    for place in range(_STEP - 1, len(curves.judgments), _STEP):
        lengths = {name: getattr(curves, name).length[place] for name in _CURVES}
        yield {**names, "judgments": int(curves.judgments[place]), **lengths}
