"""What an estimator returns."""

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

from steelyard.errors import InvalidDataError
from steelyard.estimate.ledger import Ledger
from steelyard.version import __version__

__all__ = ["Ends", "Estimate"]

# Follow from the other keys.
_DERIVED = frozenset({"about", "data_efficiency"})
_ENDS = frozenset({"standard_error", "low", "high"})


@dataclass(frozen=True, kw_only=True)
class Ends:
    """An interval and its standard error."""

    standard_error: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return the documented JSON form."""
        return {"standard_error": self.standard_error, "low": self.low, "high": self.high}


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean human score with its interval, and all that is needed to reproduce it.

    Attributes
    ----------
    estimate, standard_error, low, high : float
        The point estimate, its standard error, and the ends of its interval.
    level : float
        Confidence level of the interval.
    target : str
        What is estimated: "pool", "census" or "superpopulation".
    raters : str
        How raters are seen: "fixed", "random" or "adjusted".
    method : str
        Estimator, slope and interval.
    n_outputs, n_judgments : int
        Judged outputs and judgments of them.
    n_raters, pool_size : int or None
        Distinct raters and outputs in the pool, None when not known.
    degrees_of_freedom : float
        Degrees of freedom of the standard error.
    slope : tuple of float
        Slope of each metric; empty for the plain mean.
    metrics : tuple of str
        Names of the metrics; empty for the plain mean.
    baseline : Estimate or None
        The plain mean of the same judgments; None when this is the plain mean.
    data_efficiency : float or None
        Variance of the baseline over that of this estimate.
    new_outputs : Ends or None
        The interval for new outputs like these, where it is more than a tenth wider than the pool's.
    fixed_raters : Ends or None
        The interval about exactly these raters, where `low` and `high` are about raters like these.
    shares : tuple of float
        Share of each metric in a learned control; they add up to 1, or to 0 without a control.
    ledger : Ledger or None
        Judgments that the plain mean would need for this interval, and what saved them; None where it
        was not asked of a campaign.
    notes : tuple of str
        What a reader must know before trusting the numbers.
    system, prompt : str or None
        What the judgments were of.
    slice : str or None
        The slice of the pool that this is about, or the weights of a mix of slices; None for the
        whole pool.
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    level: float
    target: str
    raters: str
    method: str
    n_outputs: int
    n_judgments: int
    n_raters: int | None
    pool_size: int | None
    degrees_of_freedom: float
    slope: tuple[float, ...] = ()
    metrics: tuple[str, ...] = ()
    baseline: "Estimate | None" = None
    new_outputs: Ends | None = None
    fixed_raters: Ends | None = None
    shares: tuple[float, ...] = ()
    ledger: Ledger | None = None
    notes: tuple[str, ...] = ()
    system: str | None = None
    prompt: str | None = None
    slice: str | None = None

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @cached_property
    def data_efficiency(self) -> float | None:
        """Variance of the plain mean over the variance of this estimate."""
        if self.baseline is None or self.standard_error == 0:
            return None
        return (self.baseline.standard_error / self.standard_error) ** 2

    @property
    def about(self) -> str:
        """What the interval is about, in words."""
        pool = "these outputs" if self.pool_size is None else f"these {self.pool_size} outputs"
        what = {
            "pool": pool,
            "census": f"{pool}, had each been judged once",
            "superpopulation": "new outputs like these",
        }[self.target]
        who = "exactly these raters" if self.raters == "fixed" else "raters like these"
        where = "" if self.slice is None else f" ({self.slice})"
        return f"{what}{where}, by {who}"

    @property
    def signature(self) -> str:
        """One line that tells which computation gave these numbers."""
        slope = ",".join(f"{a:.6g}" for a in self.slope)
        parts = [
            self.method,
            f"target={self.target}",
            f"raters={self.raters}",
            f"level={self.level:g}",
            f"n={self.n_outputs}",
            f"judgments={self.n_judgments}",
            f"N={self.pool_size if self.pool_size is not None else '?'}",
            *([f"slope={slope}"] if slope else []),
            f"steelyard={__version__}",
        ]
        return "|".join(parts)

    def named(
        self, *, system: str | None, prompt: str | None, metrics: tuple[str, ...]
    ) -> "Estimate":
        """Return this estimate with the names of what it is about."""
        baseline = self.baseline and self.baseline.named(system=system, prompt=prompt, metrics=())
        return replace(self, system=system, prompt=prompt, metrics=metrics, baseline=baseline)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        baseline = self.baseline and {
            "estimate": self.baseline.estimate,
            "standard_error": self.baseline.standard_error,
            "low": self.baseline.low,
            "high": self.baseline.high,
        }
        return {
            "system": self.system,
            "prompt": self.prompt,
            "slice": self.slice,
            "metrics": list(self.metrics),
            "method": self.method,
            "n_outputs": self.n_outputs,
            "n_judgments": self.n_judgments,
            "n_raters": self.n_raters,
            "pool_size": self.pool_size,
            "level": self.level,
            "target": self.target,
            "raters": self.raters,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "low": self.low,
            "high": self.high,
            "baseline": baseline,
            "data_efficiency": self.data_efficiency,
            "slope": list(self.slope),
            "shares": list(self.shares),
            "about": self.about,
            "new_outputs": self.new_outputs and self.new_outputs.to_dict(),
            "fixed_raters": self.fixed_raters and self.fixed_raters.to_dict(),
            "ledger": self.ledger and self.ledger.to_dict(),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, form: Mapping[str, Any]) -> Self:
        """Return the estimate of a documented JSON form: one of `to_dict`, or of ``estimate --json``.

        What the form does not hold is not known: degrees of freedom are NaN, and of the baseline only the
        numbers are its own.

        Raises
        ------
        InvalidDataError
            If a key is missing, or is none of the form.

        Examples
        --------
        >>> found = Estimate(estimate=2.3, standard_error=0.9, low=0.5, high=4.1, level=0.95, target="pool",
        ...                  raters="fixed", method="mean", n_outputs=3, n_judgments=3, n_raters=None,
        ...                  pool_size=None, degrees_of_freedom=2)
        >>> Estimate.from_dict(found.to_dict()).to_dict() == found.to_dict()
        True
        """
        known = {field.name for field in fields(cls)} - {"degrees_of_freedom"}
        _check_keys("estimate", form, known | _DERIVED, optional=_DERIVED)
        values: dict[str, Any] = {name: form[name] for name in known}
        for name in ("slope", "metrics", "shares", "notes"):
            values[name] = tuple(values[name])
        for name in ("new_outputs", "fixed_raters"):
            if values[name] is not None:
                _check_keys(name, values[name], _ENDS)
                values[name] = Ends(**values[name])
        if values["ledger"] is not None:
            _check_keys("ledger", values["ledger"], {"plain", "used", "saved"})
            values["ledger"] = Ledger(**values["ledger"])
        numbers = values.pop("baseline")
        found = cls(**values, degrees_of_freedom=math.nan)
        if numbers is None:
            return found
        _check_keys("baseline", numbers, _ENDS | {"estimate"})
        plain = replace(
            found, **numbers, method="plain mean", metrics=(), slope=(), shares=(), notes=()
        )
        plain = replace(plain, new_outputs=None, fixed_raters=None, ledger=None)
        return replace(found, baseline=plain)

    def __str__(self) -> str:
        efficiency = "" if self.data_efficiency is None else f", DE {self.data_efficiency:.2f}"
        pool = "" if self.pool_size is None else f" of {self.pool_size}"
        return (
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] at {self.level:.0%} "
            f"({self.method}, {self.n_judgments} judgments on {self.n_outputs}{pool} "
            f"outputs{efficiency})"
        )

    def __repr__(self) -> str:
        names = [self.system, self.prompt and f"prompt {self.prompt}", self.slice]
        return f"<Estimate {''.join(f'{name}, ' for name in names if name)}{self}>"

    def _repr_html_(self) -> str:
        rows = [("control variates" if self.slope else "plain mean", self)]
        if self.baseline is not None:
            rows.append(("plain mean", self.baseline))
        body = "".join(
            f"<tr><th>{name}</th><td>{e.estimate:.4f}</td><td>{e.standard_error:.4f}</td>"
            f"<td>[{e.low:.4f}, {e.high:.4f}]</td></tr>"
            for name, e in rows
        )
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f"<table><thead><tr><th></th><th>estimate</th><th>standard error</th>"
            f"<th>{self.level:.0%} interval</th></tr></thead><tbody>{body}</tbody></table>"
            f"<small>{html.escape(self.signature)}</small>" + (f"<ul>{notes}</ul>" if notes else "")
        )


def _check_keys(
    name: str,
    form: Mapping[str, Any],
    known: set[str] | frozenset[str],
    *,
    optional: frozenset[str] = frozenset(),
) -> None:
    missing, foreign = known - optional - set(form), set(form) - known
    if missing or foreign:
        what = (
            f"lacks {', '.join(sorted(missing))}"
            if missing
            else f"has {', '.join(sorted(foreign))}"
        )
        raise InvalidDataError(
            f"`form`: {name} must have the keys of `estimate --json`; this one {what}"
        )
