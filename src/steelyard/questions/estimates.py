"""The estimates of a study, with what was left out of them."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import UnknownNameError
from steelyard.questions.about import About
from steelyard.results import Results
from steelyard.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Baseline", "Ends", "Estimate", "Estimates"]

_COLUMNS = (
    *("system", "prompt", "estimate", "low", "high", "rank_low", "rank_high", "baseline.estimate"),
    *("data_efficiency", "n_judgments", "n_outputs", "pool_size"),
)


@dataclass(frozen=True, kw_only=True)
class Ends:
    """A standard error and the ends of an interval."""

    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Baseline(Ends):
    """The plain mean of the same judgments, with its error under the same model."""

    estimate: float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The mean human score of a system under a prompt, with its interval.

    Attributes
    ----------
    system, prompt : str
        The system and the prompt.
    slice : str or None
        The slice of the pool that this is about, or the weights of a mix of slices; None for the whole
        pool.
    estimate, standard_error, low, high : float
        The estimate, its standard error, and the ends of its interval.
    level : float
        Confidence level of the interval.
    about : About
        The outputs and raters that the interval is about.
    rank_low, rank_high, group : int or None
        The ranks that the system may have, 1 for the best, and the number of its group; None with one
        system, or with too many to compare all of them.
    n_outputs, n_judgments : int
        Judged outputs and judgments of them.
    n_raters : int or None
        Raters, None where they are not known.
    pool_size : int
        Outputs in the pool.
    data_efficiency : float
        Variance of the plain mean over that of this estimate, both under the model.
    baseline : Baseline
        The plain mean of the same judgments.
    metrics : tuple of str
        The metrics that were used.
    new_outputs, these_raters : Ends or None
        The intervals for new outputs like these, and by exactly these raters, where they differ from this
        one by more than a tenth.
    degrees_of_freedom : float
        Degrees of freedom of the standard error.
    notes : tuple of str
        What a reader must know of this system before trusting the numbers.
    """

    system: str
    prompt: str
    slice: str | None = None
    estimate: float
    standard_error: float
    low: float
    high: float
    level: float
    about: About
    rank_low: int | None = None
    rank_high: int | None = None
    group: int | None = None
    n_outputs: int
    n_judgments: int
    n_raters: int | None
    pool_size: int
    data_efficiency: float
    baseline: Baseline
    metrics: tuple[str, ...] = ()
    new_outputs: Ends | None = None
    these_raters: Ends | None = None
    degrees_of_freedom: float
    notes: tuple[str, ...] = ()

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def signature(self) -> str:
        """One line that shows which computation gave these numbers."""
        parts = [
            "one model",
            f"about={self.about}",
            f"level={self.level:g}",
            f"n={self.n_outputs}",
            f"judgments={self.n_judgments}",
            f"N={self.pool_size}",
            f"metrics={','.join(self.metrics) or 'none'}",
            f"steelyard={__version__}",
        ]
        return "|".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return asdict(self) | {"metrics": list(self.metrics), "notes": list(self.notes)}

    def __str__(self) -> str:
        return (
            f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}] at {self.level:.0%} "
            f"({self.n_judgments} judgments on {self.n_outputs} of {self.pool_size} outputs, data "
            f"efficiency {self.data_efficiency:.2f})"
        )

    def __repr__(self) -> str:
        names = [self.system, f"prompt {self.prompt}", self.slice]
        return f"<Estimate {''.join(f'{name}, ' for name in names if name)}{self}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, Estimate | Baseline]] = [
            ("estimate", self),
            ("plain mean", self.baseline),
        ]
        body = "".join(
            f"<tr><th>{name}</th><td>{e.estimate:.4f}</td><td>{e.standard_error:.4f}</td>"
            f"<td>[{e.low:.4f}, {e.high:.4f}]</td></tr>"
            for name, e in rows
        )
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            "<table><thead><tr><th></th><th>estimate</th><th>standard error</th>"
            f"<th>{self.level:.0%} interval</th></tr></thead><tbody>{body}</tbody></table>"
            f"<small>{html.escape(self.signature)}</small>" + (f"<ul>{notes}</ul>" if notes else "")
        )


class Estimates(Results[Estimate]):
    """A list of estimates, one for each prompt and system.

    Attributes
    ----------
    left_out : dict
        Why there is no estimate, by prompt and system.
    remarks : tuple of str
        What is to be said of all estimates together, and of slices that were left out.
    """

    def __init__(
        self,
        found: Iterable[Estimate] = (),
        left_out: dict[tuple[str, str], str] | None = None,
        *,
        remarks: Sequence[str] = (),
        columns: Sequence[str] = _COLUMNS,
    ) -> None:
        found = list(found)
        if any(one.slice is not None for one in found) and "slice" not in columns:
            columns = (*columns[:2], "slice", *columns[2:])
        super().__init__(found, columns=columns)
        self.left_out = left_out or {}
        self.remarks = tuple(remarks)

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each system that was left out, and remarks on all."""
        left_out = (
            f"{system}, {prompt}: left out: {reason}"
            for (prompt, system), reason in self.left_out.items()
        )
        return (*left_out, *self.remarks)

    def of_slice(self, name: str) -> "Estimates":
        """Return the estimates of one slice.

        Raises
        ------
        UnknownNameError
            If there is no such slice.
        """
        found = [one for one in self if one.slice == name]
        if not found:
            there = dict.fromkeys(str(one.slice) for one in self if one.slice is not None)
            raise UnknownNameError(
                f"no estimate is of slice {name!r}; there are: {'; '.join(there) or 'none'}"
            )
        return self._part(found)

    def _below(self) -> tuple[str, ...]:
        own = (f"{_label(one)}, {one.prompt}: {note}" for one in self for note in one.notes)
        return (*dict.fromkeys(own), *self.notes)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the interval of each system, prompts below each other, with the plain means.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.questions.plots import plot_estimates  # noqa: PLC0415

        return plot_estimates(self, ax)


def _label(one: Estimate) -> str:
    return str(one.system) if one.slice is None else f"{one.system}, {one.slice}"
