"""Where a collection under way stands: estimate, interval at all times, and what is left to do."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from steelyard.data import Outputs, read_judgments
from steelyard.design.sequence import Method
from steelyard.errors import NotEstimableError
from steelyard.estimate import Estimate
from steelyard.study.forecast import Path, followed, forecast, towards
from steelyard.study.monitoring import Monitored, monitor
from steelyard.study.recorded_draw import is_designed
from steelyard.study.study import Study

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
        As `Study.estimate` gives it for one look at a number that was fixed beforehand; with
        metrics if they can be used, else the plain mean; None if neither can be told yet.
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
    >>> from steelyard.data import read_outputs
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
    designed = is_designed(judgments)
    outputs_of = dict(rows.group_by("system").agg(pl.col("item").n_unique()).iter_rows())
    found = []
    for prompt in bounds:
        asked = pl.col("prompt") == prompt
        study = Study(outputs, judgments.filter(asked))
        for system in outputs.systems:
            own = rows.filter(asked & (pl.col("system") == system))
            if own.is_empty():
                continue
            missing = outputs_of[system] - own["item"].n_unique()
            reason = _no_sequence(bounds[prompt], missing, designed=designed)
            cell = _Cell(study, prompt, system, bounds[prompt])
            found.append(
                cell.standing(metrics, goal, no_sequence=reason, with_path=prompt in paths)
            )
    return found


@dataclass(frozen=True)
class _Cell:
    """One system under one prompt."""

    study: Study
    prompt: str
    system: str
    bounds: tuple[float, float]

    def standing(
        self, metrics: Sequence[str], goal: Goal, *, no_sequence: str | None, with_path: bool
    ) -> Standing:
        estimate, notes = self.estimate(metrics, goal)
        monitored = self.monitored(metrics, goal) if no_sequence is None else None
        return Standing(
            system=self.system,
            prompt=self.prompt,
            estimate=estimate,
            monitored=monitored,
            path=followed(monitored) if monitored is not None and with_path else (),
            forecast=forecast(monitored, goal.each) if monitored is not None else (),
            notes=notes if no_sequence is None else (*notes, no_sequence),
        )

    def estimate(
        self, metrics: Sequence[str], goal: Goal
    ) -> tuple[Estimate | None, tuple[str, ...]]:
        """Return the estimate with all metrics, or the plain mean and why, or only the reason."""
        try:
            [found] = self.study.estimate(
                metrics,
                prompts=[self.prompt],
                systems=[self.system],
                level=goal.level,
                bounds=self.bounds if np.isfinite(self.bounds).all() else None,
            )
        except NotEstimableError as error:
            return None, (str(error),)
        return found, found.notes if metrics and not found.metrics else ()

    def monitored(self, metrics: Sequence[str], goal: Goal) -> Monitored:
        low, high = self.bounds
        [found] = monitor(
            self.study,
            metrics,
            half_width=goal.tuned_for or _USUAL_SHARE * (high - low),
            prompts=[self.prompt],
            systems=[self.system],
            method=goal.method,
            level=goal.level,
            bounds=self.bounds,
            judgments_per_output=goal.each,
        )
        if goal.half_width is None:
            return replace(found, stop=False, expected_more=None)
        if goal.half_width == found.goal:
            return found
        return towards(found, goal.half_width, goal.each)


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
