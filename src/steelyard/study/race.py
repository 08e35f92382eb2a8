"""Races: judge all systems on the same items, and let those go that need no more judgments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.campaign.draw_order import draw_numbers, says_what_is_used
from steelyard.campaign.score_bounds import check_bounds
from steelyard.design.race import (
    Race,
    RaceControl,
    RaceGoal,
    RaceMethod,
    RaceOptions,
    expected_items,
)
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import names_of
from steelyard.study.arrivals import Arrived, arrivals
from steelyard.study.race_result import Races, raced
from steelyard.study.recorded_draw import check_simply_drawn
from steelyard.study.shared_texts import SharedTexts
from steelyard.tables import Outputs

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["gap_notes", "race", "race_method"]

Floats = NDArray[np.float64]


def race(
    study: "Study",
    goal: RaceGoal = "best",
    *,
    margin: float | None = None,
    metrics: Sequence[str] = (),
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    method: RaceMethod | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    judgments_per_output: int = 1,
    judgment_price: float | None = None,
    sample: pl.DataFrame | None = None,
) -> Races:
    """Say of each prompt whether the best system, or the order of all, is known.

    All systems are judged on the same items, taken in the order of the draw, up to the first item
    that is not complete for every system that is still in. What was judged of a system after it was let
    go is not looked at. Look as often as you like: with probability `level` nothing that is said is ever wrong.

    Parameters
    ----------
    study : Study
        Outputs and the judgments so far.
    goal : {"best", "order", "difference"}
        Which system is best; the order of all; of every pair which is better, or that both are at
        most `margin` apart.
    margin : float, optional
        Differences up to this do not matter.
    metrics : str or sequence of str
        Metrics that foretell differences; none by default. Choose them before looking: they are given their weight by the
        judgments, and none where they foretell nothing.
    prompts, systems : sequence of str, optional
        Which to look at; all that were judged by default.
    method : {"betting", "asymptotic"}, optional
        Exact for scores within `bounds`, or approximate and without bounds. By default betting where
        bounds are known.
    level : float
        Probability with which nothing that is ever said is wrong.
    bounds : (float, float) or None
        Least and greatest possible score; None only for the asymptotic race.
    judgments_per_output : int
        Judgments after which an output is complete; its score is their mean.
    judgment_price : float, optional
        Price of a judgment, to say what is left to pay.
    sample : polars.DataFrame, optional
        The drawn sample, when the judgments do not carry what the draw recorded.

    Returns
    -------
    Races

    Raises
    ------
    InvalidArgumentError
        If an option breaks its rule, a score lies outside `bounds`, or there are not two systems.
    InvalidDataError
        If systems have different items, or were judged in different orders.
    NotEstimableError
        If outputs were not drawn simply at random.
    """
    options = RaceOptions(
        goal=goal, margin=margin, level=level, bounds=bounds, method=race_method(method, bounds)
    )
    if judgment_price is not None and not judgment_price >= 0:
        raise InvalidArgumentError(f"`judgment_price` must not be negative; got {judgment_price}")
    prompts, systems = names_of(prompts), names_of(systems)
    foretelling = tuple(dict.fromkeys(names_of(metrics)))
    study.judged_pairs(prompts, systems)
    check_bounds(study.judgments, bounds, prompts=prompts, systems=systems)
    # Bets need an order of chance.
    check_simply_drawn(study.judgments, prompts, systems, sample=sample, spread=False)
    cells: dict[str, list[Arrived]] = {}
    for cell in arrivals(
        study.outputs,
        study.judgments,
        (),
        each=judgments_per_output,
        replacement=False,
        sample=sample,
    ):
        if (prompts is None or cell.prompt in prompts) and (
            systems is None or cell.system in systems
        ):
            cells.setdefault(cell.prompt, []).append(cell)
    shared: dict[tuple[str, ...], SharedTexts] = {}
    found = []
    for prompt, entered in cells.items():
        names = tuple(cell.system for cell in entered)
        if names not in shared:
            shared[names] = _texts(study, names, prompt, foretelling)
        course = _course(study, entered, sample)
        run, seen = _run(course, shared[names], options)
        imbalances = [study.imbalances.get((prompt, name)) for name in names]
        found.append(
            raced(
                run,
                prompt=prompt,
                names=names,
                metrics=foretelling,
                after=expected_items(run)[0],
                each=judgments_per_output,
                price=judgment_price,
                balanced=not any(imbalances),
                notes=[
                    *_notes(study, entered),
                    *gap_notes(study.outputs, foretelling, names),
                    *course.waiting(seen, run.inside[0], names),
                ],
            )
        )
    return Races(found)


def race_method(method: RaceMethod | None, bounds: tuple[float, float] | None) -> RaceMethod:
    """Return the method asked for, or else the exact one where bounds are known."""
    return method or ("asymptotic" if bounds is None else "betting")


def gap_notes(outputs: Outputs, metrics: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Say where a metric of a race is missing.

    Raises
    ------
    InvalidArgumentError
        If there is no such metric.
    """
    if not metrics:
        return []
    return [
        f"{system}: metric {name} is missing on {count} outputs, which count as the mean of their system"
        for system, gaps in outputs.metric_gaps(metrics).items()
        for name, count in gaps.items()
        if system in systems
    ]


def _texts(
    study: "Study", names: tuple[str, ...], prompt: str, metrics: Sequence[str]
) -> SharedTexts:
    if len(names) < 2:
        raise InvalidArgumentError(
            f"`systems` must be at least two that are judged under prompt {prompt!r}; got "
            f"{', '.join(names)}"
        )
    found = SharedTexts.of(study.outputs, names, metrics)
    missing = np.argwhere(found.codes < 0)
    if len(missing):
        item, system = missing[0]
        name = list(found.items)[item]
        raise InvalidDataError(
            f"a race needs outputs of all systems for the same items; system {names[system]!r} has "
            f"none for item {name!r}, one of {len(missing):,} outputs that are missing: leave such items out, or "
            "that system"
        )
    return found


@dataclass(frozen=True, eq=False)
class _Course:
    """The items of a race in order, and every system's score of each; NaN where it is missing."""

    items: tuple[str, ...]
    scores: Floats
    passes_gaps: bool

    def waiting(self, seen: int, inside: NDArray[np.bool_], names: Sequence[str]) -> list[str]:
        """Say whose judgment of the next item is missing."""
        if seen >= len(self.items) or inside.sum() < 2:
            return []
        lacking = inside & ~np.isfinite(self.scores[seen])
        missing = [name for name, lacks in zip(names, lacking, strict=True) if lacks]
        if not missing:
            return []
        return [
            f"{len(self.items) - seen} judged items wait: {self.items[seen]!r} is not complete for "
            + ", ".join(missing)
        ]


def _course(study: "Study", entered: Sequence[Arrived], sample: pl.DataFrame | None) -> _Course:
    drawn = draw_numbers(study.judgments, sample) is not None
    places: dict[str, int] = {}
    for cell in entered:
        for item, place in zip(cell.items, cell.order.tolist(), strict=True):
            before = places.setdefault(item, place)
            if drawn and before != place:
                raise InvalidDataError(
                    f"column draw: item {item!r} has the number {place} in the draw of system "
                    f"{cell.system!r} and {before} in another: a race needs the same items in the "
                    "same order for all systems, as `steelyard sample --same-items` draws them"
                )
            places[item] = min(before, place)
    items = tuple(sorted(places, key=lambda item: places[item]))
    number = {item: place for place, item in enumerate(items)}
    scores = np.full((len(items), len(entered)), np.nan)
    for column, cell in enumerate(entered):
        scores[[number[item] for item in cell.items], column] = cell.human
    return _Course(items, scores, drawn and says_what_is_used(study.judgments))


def _run(course: _Course, texts: SharedTexts, options: RaceOptions) -> tuple[Race, int]:
    """Run the race over what is complete, and return it with the number of items passed."""
    codes = texts.codes
    apart = (codes[:, :, np.newaxis] != codes[:, np.newaxis, :]).sum(axis=0)
    control = None
    if texts.metrics.shape[2]:
        control = RaceControl(texts.metrics, codes=codes, method=options.method)
    found = Race(apart, len(codes), options, control=control)
    judged = np.isfinite(course.scores)
    places = np.arange(1, len(course.items) + 1)[:, np.newaxis]
    last = np.where(judged, places, 0).max(axis=0, initial=0)
    for place, item in enumerate(course.items):
        if not found.running[0]:
            return found, place
        lacking = found.inside[0] & ~np.isfinite(course.scores[place])
        if lacking.any():
            # An output that waits for the replacement of an excluded judgment is passed over.
            if course.passes_gaps and (last[lacking] > place).all():
                continue
            return found, place
        number = texts.items[item]
        same = codes[number][:, np.newaxis] == codes[number]
        found.judge(course.scores[place][np.newaxis], same, place=number)
    return found, len(course.items)


def _notes(study: "Study", entered: Sequence[Arrived]) -> list[str]:
    notes = [f"{cell.system}: {note}" for cell in entered for note in cell.notes]
    names = {cell.system for cell in entered}
    off = study.imbalances
    notes += [
        f"{cell.system}: {off[cell.prompt, cell.system]}"
        for cell in entered
        if (cell.prompt, cell.system) in off
    ]
    absent = [name for name in study.outputs.systems if name not in names]
    if absent:
        notes.append(f"not in this race: {', '.join(absent)}")
    return notes
