"""Replays of a finished campaign as a race: how soon it would have been decided, and who would have won."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.campaign.score_bounds import check_bounds
from steelyard.design.race import Race, RaceControl, RaceGoal, RaceMethod, RaceOptions
from steelyard.design.race.fixed_design import fixed_decisions
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.ledger import Ledger
from steelyard.records import names_of
from steelyard.results import Results
from steelyard.study.judged_race import JudgedRace, RacePools
from steelyard.study.race import gap_notes, race_method
from steelyard.study.recorded_draw import check_simply_drawn
from steelyard.study.replayed_race import COLUMNS, RaceReplay, ReplayedSystem

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["false_claims", "simulate_race"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Scores of all replays that are run side by side, which bounds their memory.
_AT_ONCE = 2_000_000
# Sizes of fixed designs that are tried.
_SIZES = 60


def simulate_race(
    study: "Study",
    goal: RaceGoal = "best",
    *,
    margin: float | None = None,
    metrics: Sequence[str] = (),
    prompt: str | None = None,
    systems: Sequence[str] | None = None,
    method: RaceMethod | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    runs: int = 200,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Results[RaceReplay]:
    """Replay a finished campaign as a race, beside a fixed design that decides as often.

    A pool of the real size is made from the items that were judged for all systems, each as often as
    needed. In every replay they come in a random order, with one judgment of each text, until the goal is
    reached or the pool is judged. Beside it stands the smallest number of items, the same for all systems, that
    decides in as many replays by paired t tests; one must know it beforehand, and it holds approximately.

    Parameters
    ----------
    study : Study
        The finished campaign.
    goal, margin, metrics, method, bounds, level
        As in `Study.race`.
    prompt : str, optional
        The prompt; needed when several were judged.
    systems : sequence of str, optional
        Which systems run; all that were judged by default.
    runs : int
        Number of replays.
    seed : int
        Seed of the replays.
    progress : callable, optional
        Called with the number of replays made and that of all.

    Returns
    -------
    Results of RaceReplay
        The race, and the fixed design if one decides as often.
    """
    if runs < 1:
        raise InvalidArgumentError(f"`runs` must be at least 1; got {runs}")
    options = RaceOptions(
        goal=goal, margin=margin, level=level, bounds=bounds, method=race_method(method, bounds)
    )
    prompt = study.only_prompt(prompt)
    asked = names_of(systems)
    pairs = study.judged_pairs([prompt], asked)
    check_bounds(study.judgments, bounds, prompts=[prompt], systems=asked)
    check_simply_drawn(study.judgments, [prompt], asked)
    names, foretelling = tuple(name for _, name in pairs), tuple(dict.fromkeys(names_of(metrics)))
    gap_notes(study.outputs, foretelling, names)
    rng = np.random.default_rng(seed)
    judged = JudgedRace.of(study, prompt, names, rng, foretelling)
    sizes = np.unique(np.geomspace(min(4, judged.size), judged.size, _SIZES).astype(int))
    at_once = max(1, min(runs, _AT_ONCE // (judged.size * len(judged.names))))
    parts = []
    for start in range(0, runs, at_once):
        pools = judged.pools(min(at_once, runs - start), rng)
        parts.append(_replayed(judged, pools, options, sizes))
        if progress is not None:
            progress(min(start + at_once, runs), runs)
    whole = _Outcomes(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0]))
    )
    found = _summaries(judged, whole, sizes, options, prompt=prompt, metrics=foretelling)
    return Results(found, columns=COLUMNS)


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """One entry for each replay: items of each system, who was named, and what was wrong."""

    decided: Bools
    wrong: Bools
    winner: NDArray[np.int64]
    out: Bools
    stops: Floats
    fixed: Bools


def _replayed(
    judged: JudgedRace, pools: RacePools, options: RaceOptions, sizes: NDArray[np.int64]
) -> _Outcomes:
    runs = len(pools.scores)
    control = None
    if judged.metrics.shape[2]:
        control = RaceControl(
            judged.metrics, order=pools.order, codes=judged.codes, method=options.method
        )
    race = Race(judged.differing, judged.size, options, runs=runs, control=control)
    for place in range(judged.size):
        if not race.running.any():
            break
        codes = pools.codes[:, place]
        race.judge(pools.scores[:, place], codes[:, :, np.newaxis] == codes[:, np.newaxis, :])
    ended = np.where(race.running, judged.size, race.decided_at)[:, np.newaxis]
    return _Outcomes(
        ~race.running,
        false_claims(race, pools.scores.mean(axis=1)),
        race.winner,
        (race.out_at > 0) & (race.out_at < ended),
        np.where(race.out_at > 0, race.out_at, ended),
        fixed_decisions(pools.scores, sizes.tolist(), options),
    )


def false_claims(race: Race, means: Floats) -> Bools:
    """Return whether anything was said that is false of these means, (R, K)."""
    apart = means[:, np.newaxis, :] - means[:, :, np.newaxis]  # [a, b]: b less a
    rounding = 1e-9 * race.options.scale
    margin = (race.options.margin or 0.0) + rounding
    if race.options.goal == "best":
        best = means >= means.max(axis=1, keepdims=True) - rounding
        named = np.take_along_axis(means, race.winner[:, np.newaxis], axis=1)[:, 0]
        far = ~race.running & (means.max(axis=1) - named > margin)
        return np.asarray(~(best & (race.out_at == 0)).any(axis=1) | far)
    alike = race.near & race.near.transpose(0, 2, 1) & ~race.above & ~race.above.transpose(0, 2, 1)
    false = (race.above & (apart < -rounding)) | (alike & (np.abs(apart) > margin))
    return np.asarray(false.any(axis=(1, 2)))


def _summaries(
    judged: JudgedRace,
    found: _Outcomes,
    sizes: NDArray[np.int64],
    options: RaceOptions,
    *,
    prompt: str,
    metrics: tuple[str, ...],
) -> list[RaceReplay]:
    """Return the race, and the smallest fixed design that decides as often."""
    paid, count = found.stops.sum(axis=1), len(judged.names)
    enough = np.flatnonzero(found.fixed.mean(axis=0) >= max(found.decided.mean(), 1e-12))
    items = int(sizes[enough[0]]) if len(enough) else None
    longest = found.stops.max(axis=1)
    plain, used = float(longest.mean() * count), float(paid.mean())
    about: dict[str, Any] = {
        "prompt": prompt,
        "goal": options.goal,
        "margin": options.margin,
        "level": options.level,
        "pool_size": judged.size,
        "judged_items": judged.judged,
        "runs": len(paid),
    }
    best = int(judged.means.argmax())
    of_best = options.goal == "best"
    raced = RaceReplay(
        rule="race",
        metrics=metrics,
        method=options.method,
        guarantee="exact" if options.method == "betting" else "asymptotic",
        decided=float(found.decided.mean()),
        wrong=float(found.wrong.mean()),
        other_winner=float((found.decided & (found.winner != best)).mean()) if of_best else None,
        n_items=float(longest.mean()),
        judgments=used,
        most_judgments=float(np.quantile(paid, 0.9)),
        relative_judgments=None if items is None else used / (items * count),
        ledger=Ledger(plain, used, {"race": plain - used}),
        systems=_systems(judged, found, of_best=of_best),
        **about,
    )
    if items is None:
        return [raced]
    fixed = RaceReplay(
        rule="fixed design",
        metrics=(),
        method="t tests",
        guarantee="asymptotic",
        decided=float(found.fixed[:, enough[0]].mean()),
        wrong=None,
        other_winner=None,
        n_items=float(items),
        judgments=float(items * count),
        most_judgments=float(items * count),
        relative_judgments=1.0,
        ledger=None,
        systems=(),
        **about,
    )
    return [raced, fixed]


def _systems(judged: JudgedRace, found: _Outcomes, *, of_best: bool) -> tuple[ReplayedSystem, ...]:
    means = judged.means
    return tuple(
        ReplayedSystem(
            system=judged.names[place],
            estimate=float(means[place]),
            judgments=float(found.stops[:, place].mean()),
            out=float(found.out[:, place].mean()),
            won=float((found.decided & (found.winner == place)).mean()) if of_best else None,
        )
        for place in np.argsort(-means, kind="stable").tolist()
    )
