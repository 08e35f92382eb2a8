"""Races with metrics beside the same races without.

Usage: ``python -m benchmarks.race_controls [RUNS]``: RUNS campaigns of each kind, 100 by default. The pools are those of
`benchmarks.races`; the first metric has the given correlation with what is a system's own in a score, and so with differences, and with
"ten more" there are ten metrics that are chance. Printed are the judgments of the race without metrics, and of the race with them over those, with a
standard error; for both how often the best system was let go.

``python -m benchmarks.race_controls RUNS ties`` has exact ties of two systems, where each that is let go is a mistake,
and metrics that are made to mislead: in how many campaigns the first was let go, and the second.

``python -m benchmarks.race_controls RUNS paper`` replays the paper's campaigns with all of their metrics.
"""

import sys
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from steelyard.design.race import Race, RaceControl, RaceOptions

from benchmarks.races import _ITEMS, _SHARED, Kind
from benchmarks.replays import PROMPTS, released

Floats = NDArray[np.float64]
_CHUNK, _TIED_ITEMS = 25, 400


def pools(
    rng: np.random.Generator, kind: Kind, correlation: float, runs: int, more: int
) -> tuple[Floats, Floats]:
    """Return pools of scores in random order (R, N, K) and their metrics (R, N, K, p)."""
    item = np.sqrt(_SHARED) * rng.standard_normal((runs, _ITEMS, 1))
    metrics = rng.standard_normal((runs, _ITEMS, kind.systems, 1 + more))
    rest = np.sqrt(1 - correlation**2) * rng.standard_normal((runs, _ITEMS, kind.systems))
    own = np.sqrt(1 - _SHARED) * (correlation * metrics[..., 0] + rest)
    return np.clip(kind.means + kind.spread * (item + own), 0, 1), metrics


@dataclass(frozen=True)
class Found:
    """Judgments of each campaign, whether the best system was let go, and when each was."""

    judgments: Floats
    wrong: NDArray[np.bool_]
    out_at: NDArray[np.int64]


def raced(scores: Floats, metrics: Floats | None, options: RaceOptions) -> Found:
    """Race over pools, with metrics or without."""
    runs, items, systems = scores.shape
    control = None
    if metrics is not None:
        rows = np.arange(runs * items).reshape(runs, items)
        values = metrics.reshape(runs * items, systems, -1)
        control = RaceControl(values, order=rows, method=options.method)
    apart = items * (1 - np.eye(systems, dtype=np.int64))
    race = Race(apart, items, options, runs=runs, control=control)
    judgments = np.zeros(runs)
    for place in range(items):
        if not race.running.any():
            break
        judgments += (race.inside & race.running[:, np.newaxis]).sum(axis=1)
        race.judge(scores[:, place])
    means = scores.mean(axis=1)
    best = means >= means.max(axis=1, keepdims=True) - 1e-9
    return Found(judgments, ~(best & (race.out_at == 0)).any(axis=1), race.out_at)


def line(kind: Kind, correlation: float, runs: int, more: int) -> str:
    """Return a row of the table."""
    margin = None if kind.margin is None else kind.margin * kind.spread
    bounds = None if kind.method == "asymptotic" else (0.0, 1.0)
    options = RaceOptions(margin=margin, method=kind.method, bounds=bounds)  # type: ignore[arg-type]
    seed = [kind.systems, round(100 * kind.gap), round(10 * correlation), more]
    rng = np.random.default_rng(seed)
    parts = []
    for start in range(0, runs, _CHUNK):
        scores, metrics = pools(rng, kind, correlation, min(_CHUNK, runs - start), more)
        parts.append((raced(scores, None, options), raced(scores, metrics, options)))
    plain, used = (np.concatenate([part[one].judgments for part in parts]) for one in (0, 1))
    wrong = [sum(int(part[one].wrong.sum()) for part in parts) for one in (0, 1)]
    ratio = used.mean() / plain.mean()
    error = np.std(used - ratio * plain) / np.sqrt(runs) / plain.mean()
    cells = [kind.method, f"{kind.spread:g}", str(kind.systems), kind.shape, f"{kind.gap:g}"]
    cells += ["" if kind.margin is None else f"{kind.margin:g}", f"{correlation:g}", str(more)]
    cells += [f"{plain.mean():,.0f}", f"{ratio:.3f}", f"{error:.3f}", str(wrong[0]), str(wrong[1])]
    return "| " + " | ".join(cells) + " |"


def kinds() -> list[tuple[Kind, int]]:
    """Return all kinds of campaigns, with the number of metrics that are chance."""
    shapes: list[tuple[int, str, int, tuple[float, ...]]] = [
        (5, "one ahead", 0, (0.1, 0.2, 0.5, 1.0)),
        (2, "one ahead", 0, (0.1, 0.2, 0.5, 1.0)),
        (5, "one ahead", 10, (0.2, 0.5)),
        (5, "ladder", 0, (0.2,)),
        (10, "one ahead", 0, (0.2, 0.5)),
    ]
    found = []
    for method, spread in (("betting", 0.25), ("asymptotic", 0.25), ("betting", 0.12)):
        for systems, shape, more, gaps in shapes:
            found += [(Kind(systems, shape, gap, spread, method=method), more) for gap in gaps]
        found.append((Kind(5, "one ahead", 0.0, spread, 0.25, method), 0))
    return found


MISLEADING = ("the score itself", "chance", "long tails", "marks rare failures")


def misled(rng: np.random.Generator, runs: int, metric: str) -> tuple[Floats, Floats]:
    """Return pools of two systems with the same mean, and a metric."""
    shape = runs, _TIED_ITEMS
    scores = np.clip(0.5 + 0.25 * rng.standard_normal((*shape, 2)), 0, 1)
    shift = (scores[..., 0] - scores[..., 1]).mean(axis=1) / 2
    scores = (scores + np.stack([-shift, shift], axis=1)[:, np.newaxis] + 0.1) / 1.2
    if metric == "marks rare failures":
        # the second is mostly a little better, and fails on a tenth of the items, which the metric marks
        fails = rng.uniform(size=shape) < 0.1
        second = np.where(fails, 0.1, 0.6 + 0.05 * rng.standard_normal(shape))
        first = np.repeat(second.mean(axis=1, keepdims=True), _TIED_ITEMS, axis=1)
        scores = np.stack([first, second], axis=2)
        return scores, np.stack([0.0 * fails, 1.0 * fails], axis=2)[..., np.newaxis]
    values = {
        "the score itself": scores,
        "chance": rng.standard_normal(scores.shape),
        "long tails": scores * rng.standard_cauchy(scores.shape),
    }[metric]
    return scores, values[..., np.newaxis]


def tie_line(metric: str, runs: int) -> str:
    """Return in how many campaigns of a tie the first system was ever let go, and the second."""
    cells = [metric]
    for options in (RaceOptions(), RaceOptions(method="asymptotic", bounds=None)):
        rng = np.random.default_rng(len(metric))
        lost = np.zeros(2, dtype=int)
        for start in range(0, runs, _CHUNK):
            scores, metrics = misled(rng, min(_CHUNK, runs - start), metric)
            lost += (raced(scores, metrics, options).out_at > 0).sum(axis=0)
        cells += [str(one) for one in lost]
    return "| " + " | ".join(cells) + " |"


def paper_line(task: str, prompt: str, runs: int) -> str:
    """Return a row of the paper's campaign: all systems on the items that all of them have, one judgment of each output."""
    systems, names = released(task, prompt)
    common = reduce(np.intersect1d, [one.items for one in systems])
    rows = [np.flatnonzero(np.isin(one.items, common)) for one in systems]
    metrics = np.stack([one.metrics[own] for one, own in zip(systems, rows, strict=True)], axis=1)
    rng = np.random.default_rng(0)
    cells = [task, prompt, str(len(systems)), str(len(common)), str(len(names))]
    orders = np.array([rng.permutation(len(common)) for _ in range(runs)])
    drawn = np.stack(
        [
            np.stack(
                [one.judge(rng, own)[0] for one, own in zip(systems, rows, strict=True)], axis=1
            )
            for _ in range(runs)
        ]
    )
    scores = np.take_along_axis(drawn, orders[..., np.newaxis], axis=1)
    bounds = float(np.min(drawn)), float(np.max(drawn))
    for options in (RaceOptions(bounds=bounds), RaceOptions(method="asymptotic", bounds=None)):
        plain, used = (
            raced(scores, values, options).judgments for values in (None, metrics[orders])
        )
        ratio = used.mean() / plain.mean()
        error = np.std(used - ratio * plain) / np.sqrt(runs) / plain.mean()
        cells += [f"{plain.mean():,.0f}", f"{ratio:.3f}", f"{error:.3f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print one line for each kind."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    if sys.argv[2:] == ["ties"]:
        print("| metric | exact: first let go | second | asymptotic: first let go | second |")
        print("|" + "---|" * 5)
        for metric in MISLEADING:
            print(tie_line(metric, runs), flush=True)
        return
    if sys.argv[2:] == ["paper"]:
        print(
            "| task | prompt | systems | items | metrics | exact: judgments without | with, over without | standard error "
            "| asymptotic: without | with, over without | standard error |"
        )
        print("|" + "---|" * 11)
        for task, prompt in PROMPTS:
            print(paper_line(task, prompt, runs), flush=True)
        return
    print(
        "| race | spread | systems | shape | gap | margin | correlation | more metrics | judgments without "
        "| with, over without | standard error | best let go: without | with |"
    )
    print("|" + "---|" * 13)
    for kind, more in kinds():
        for correlation in (0.0, 0.3, 0.6, 0.8):
            print(line(kind, correlation, runs, more), flush=True)


if __name__ == "__main__":
    main()
