"""Where a collection under way stands: estimate, interval at all times, and what is left to do."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from steelyard.design.sequence import Method
from steelyard.errors import NotEstimableError
from steelyard.questions.estimates import Estimate
from steelyard.study.forecast import Path, followed, forecast, towards
from steelyard.study.monitoring import Monitored, monitor
from steelyard.study.recorded_draw import is_designed, is_of_documents, is_spread
from steelyard.study.study import Study
from steelyard.tables import Outputs, read_judgments

__all__ = ["Goal", "Standing", "standings"]

# Of the range of scores, when no half-width was declared.
_USUAL_SHARE = 0.05


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What the collection is for.

    Attributes
    ----------
    half_width : float or None
        The half-width to reach, as it stands; None if there is no such goal.
    tuned_for : float or None
        The half-width that was declared before the first look, for which the sequence is tuned;
        None for a twentieth of the range of scores. A goal that is changed later decides when to
        stop, but not how the interval is made.
    level : float
        Level of all intervals.
    method : {"betting", "empirical-bernstein", "asymptotic"}
        Kind of confidence sequence.
    each : int
        Judgments after which an output is complete.
    """

    half_width: float | None
    tuned_for: float | None = None
    level: float = 0.95
    method: Method = "betting"
    each: int = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Standing:
    """Where one system stands under one prompt.

    Attributes
    ----------
    system, prompt : str
        What is estimated.
    estimate : Estimate or None
        As `Study.estimate` gives it by default, for one look at a number that was fixed beforehand;
        None if it cannot be told yet.
    monitored : Monitored or None
        The interval that holds at all times; None if there is none for this design.
    path : tuple of (int, float)
        Half-widths of that interval by outputs judged.
    forecast : tuple of (int, float)
        The same from now to the goal, at the present rate; empty if that cannot be told.
    notes : tuple of str
        Why something is missing.
    """

    system: str
    prompt: str
    estimate: Estimate | None
    monitored: Monitored | None
    path: Path = field(repr=False)
    forecast: Path = field(repr=False)
    notes: tuple[str, ...]


def standings(
    outputs: Outputs,
    used: pl.DataFrame,
    metrics: Sequence[str] = (),
    *,
    goal: Goal,
    bounds: Mapping[str, tuple[float, float]],
    paths: Collection[str] = (),
) -> list[Standing]:
    """Tell where every system stands under every prompt.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    used : polars.DataFrame
        The rows of `with_use` that are used: those of the draw's prefix.
    metrics : sequence of str
        Metrics to correct with.
    goal : Goal
        What the collection is for.
    bounds : mapping of str to (float, float)
        Least and greatest score of each prompt.
    paths : collection of str
        Prompts of which to follow the half-width; it takes most of the time.

    Returns
    -------
    list of Standing
        Prompts in the order of `bounds`, systems in that of `outputs`; those without judgments
        are not there.

    Notes
    -----
    The confidence sequence takes the outputs in the order of the draw. It is made for simple draws
    and for prompts of which every output has a score.

    Examples
    --------
    >>> pool = pl.DataFrame({"item": range(50), "system": "s", "length": range(50)})
    >>> from steelyard.tables import read_outputs
    >>> used = pl.DataFrame({
    ...     "item": range(0, 50, 2), "system": "s", "rater": "r", "prompt": "p",
    ...     "score": [0.0, 1.0, 1.0, 0.0, 1.0] * 5, "time": 0, "draw": range(1, 26),
    ... })
    >>> [one] = standings(read_outputs(pool), used, goal=Goal(half_width=0.1), bounds={"p": (0, 1)})
    >>> one.estimate.estimate, one.monitored.n
    (0.6, 25)
    """
    if used.is_empty():
        return []
    rows = used.sort("draw", "time").with_columns(time=pl.col("draw").cast(pl.String))
    judgments = read_judgments(rows)
    designed = is_designed(judgments) or is_spread(rows) or is_of_documents(rows)
    missing = _missing(rows)
    found: list[Standing] = []
    for prompt, limits in bounds.items():
        reasons = {
            system: _no_sequence(limits, missing[prompt, system], designed=designed)
            for system in outputs.systems
            if (prompt, system) in missing
        }
        if reasons:
            study = Study(outputs, judgments.filter(pl.col("prompt") == prompt))
            asked = _Asked(study, prompt, limits, goal, tuple(metrics))
            found += asked.standings(reasons, with_path=prompt in paths)
    return found


def _missing(rows: pl.DataFrame) -> dict[tuple[str, str], int]:
    """Return, for each prompt and system, how many judged outputs have no score under it."""
    judged = rows.group_by("system").agg(pl.col("item").n_unique().alias("judged"))
    scored = rows.group_by("prompt", "system").agg(pl.col("item").n_unique().alias("scored"))
    both = scored.join(judged, on="system")
    return {
        (one["prompt"], one["system"]): one["judged"] - one["scored"] for one in both.to_dicts()
    }


@dataclass(frozen=True)
class _Asked:
    """One prompt, with all its systems: each is looked at once, not once for every other."""

    study: Study
    prompt: str
    bounds: tuple[float, float]
    goal: Goal
    metrics: tuple[str, ...]

    def standings(
        self, reasons: Mapping[str, str | None], *, with_path: bool
    ) -> Iterator[Standing]:
        """Yield each system, given why it has no sequence, or None if it has one."""
        monitored = self.monitored([name for name, reason in reasons.items() if reason is None])
        estimates = self.estimates(list(reasons))
        for system, reason in reasons.items():
            sequence = monitored.get(system)
            estimate, notes = estimates[system]
            yield Standing(
                system=system,
                prompt=self.prompt,
                estimate=estimate,
                monitored=sequence,
                path=followed(sequence) if sequence is not None and with_path else (),
                forecast=forecast(sequence, self.goal.each) if sequence is not None else (),
                notes=notes if reason is None else (*notes, reason),
            )

    def estimates(
        self, systems: Sequence[str]
    ) -> dict[str, tuple[Estimate | None, tuple[str, ...]]]:
        """Return each estimate, or the reason that there is none."""
        try:
            found = self.study.estimate(
                self.metrics,
                prompts=[self.prompt],
                systems=systems,
                level=self.goal.level,
                bounds=self.bounds if np.isfinite(self.bounds).all() else None,
            )
        except NotEstimableError as error:
            reasons = error.reasons
            return {
                system: (None, (reasons.get((self.prompt, system), str(error)),))
                for system in systems
            }
        result: dict[str, tuple[Estimate | None, tuple[str, ...]]] = {
            system: (None, (reason,)) for (_, system), reason in found.left_out.items()
        }
        for one in found:
            result[str(one.system)] = one, ()
        return result

    def monitored(self, systems: Sequence[str]) -> dict[str, Monitored]:
        """Return the intervals that hold at all times, on their way to the goal as it stands."""
        if not systems:
            return {}
        low, high = self.bounds
        found = monitor(
            self.study.with_shared,
            self.metrics,
            half_width=self.goal.tuned_for or _USUAL_SHARE * (high - low),
            prompts=[self.prompt],
            systems=systems,
            method=self.goal.method,
            level=self.goal.level,
            bounds=self.bounds,
            judgments_per_output=self.goal.each,
        )
        return {one.system: self._to_goal(one) for one in found}

    def _to_goal(self, found: Monitored) -> Monitored:
        if self.goal.half_width is None:
            return replace(found, stop=False, expected_more=None)
        if self.goal.half_width == found.goal:
            return found
        return towards(found, self.goal.half_width, self.goal.each)


def _no_sequence(bounds: tuple[float, float], missing: int, *, designed: bool) -> str | None:
    if designed:
        return (
            "outputs were not drawn simply at random, so there is no interval that holds at all "
            "times: the estimate is that of the recorded draw, for one look at the end"
        )
    if missing:
        return (
            f"{missing} judged outputs have no score under this prompt, so its mean over the pool "
            "is not defined and there is no interval that holds at all times: declare the score "
            "`otherwise`"
        )
    if not np.isfinite(bounds).all():
        return "scores without a greatest value have no interval that holds at all times"
    return None
