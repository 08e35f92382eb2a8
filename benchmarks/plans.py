"""Do plans from small pilots keep their word? How often the goal is reached, and with what judgments.

    python -m benchmarks.plans [--runs R] [--kind NAME ...] [--pilot P ...]

A replay draws a pilot of P items, each output judged twice, plans from it as `steelyard plan` does, collects
what the plan asks for on new draws of the same pool, and estimates as `steelyard estimate` does by default.
Reached is the share of all systems' intervals that are no wider than the goal; the goal is such that a
plain mean would need 150 judgments (300 with priced outputs, where an output costs five judgments), beside
what the leniency of all raters adds.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.replays import PAPER
from steelyard.arrays import PoolMoments, judged_outputs, simple_draw
from steelyard.design import Prices, plan
from steelyard.errors import NotEstimableError
from steelyard.estimate import Estimate, Options
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.controlled import JudgedSystem
from steelyard.study.mean_pilot import MeanPilot
from steelyard.variance import crossed_components

SIZE = 1000


@dataclass(frozen=True, eq=False)
class World:
    """Pools of k systems: metrics (N, p) of each, and who judges: (rng, system, chosen, each)."""

    metrics: list
    judge: Callable
    spread: float  # standard deviation of one judgment, a typical system's
    raters: bool = False
    floor: float = 0.0  # error variance from leniency that no number of judgments lowers


@dataclass(frozen=True)
class Kind:
    """A simulated kind of campaign."""

    systems: int = 1
    shape: str = "normal"
    item: float = 0.5
    noise: float = 0.5
    leniency: float = 0.0
    raters: int = 30
    metric: float = 0.6
    metrics: int = 1
    apart: float = 0.0  # how much systems differ in spread

    def world(self, rng):
        quality = rng.standard_normal((self.systems, SIZE))
        scale = np.exp(self.apart * rng.standard_normal(self.systems))
        # The same correlation with quality for all metrics together.
        error = rng.standard_normal((self.systems, SIZE, self.metrics))
        part = self.metric * np.sqrt(1 / max(self.metric, 1e-9) ** 2 - 1) * np.sqrt(self.metrics)
        metrics = [self.metric * q[:, None] + part * e for q, e in zip(quality, error, strict=True)]
        if not self.metric:
            metrics = list(error)
        own = np.sqrt(self.leniency) * rng.standard_normal(self.raters)

        def judge(rng, system, chosen, each):
            who = np.argsort(rng.random((len(chosen), self.raters)), axis=1)[:, :each]
            q = quality[system, chosen][:, None]
            e = rng.standard_normal((len(chosen), each))
            if self.shape == "binary":
                middle = np.linspace(0, 0.8, self.systems)[system]
                chance = 1 / (1 + np.exp(-(middle + 1.5 * q)))
                scores = (rng.random(e.shape) < chance).astype(float)
            elif self.shape == "rare":
                scores = (rng.random(e.shape) < 1 / (1 + np.exp(2.5 - q))).astype(float)
            elif self.shape == "skewed":
                scores = rng.poisson(np.exp(0.7 * q), e.shape).astype(float)
            else:
                level = np.sqrt(self.item) * q + np.sqrt(self.noise) * e
                scores = scale[system] * (level + own[who])
            return scores, who

        tries = np.concatenate(
            [judge(rng, one, np.arange(SIZE), 1)[0].ravel() for one in range(self.systems)]
        ).reshape(self.systems, -1)
        spread = float(np.sqrt(np.mean(tries.var(axis=1))))
        floor = self.leniency / self.raters
        return World(metrics, judge, spread, raters=self.leniency > 0, floor=floor)


KINDS = {
    "normal": Kind(),
    "useless metric": Kind(metric=0.0),
    "five metrics": Kind(metric=0.7, metrics=5),
    "binary": Kind(shape="binary"),
    "rare": Kind(shape="rare"),
    "skewed": Kind(shape="skewed"),
    "noisy raters": Kind(item=0.2, noise=2.0),
    "quiet raters": Kind(item=1.0, noise=0.05),
    "lenient raters": Kind(leniency=0.06, raters=40),
    "two systems": Kind(systems=2, apart=0.2),
    "five systems": Kind(systems=5, apart=0.2),
    "five, binary": Kind(systems=5, shape="binary"),
    "five, skewed": Kind(systems=5, shape="skewed", metric=0.0),
    "five, lenient": Kind(systems=5, leniency=0.06, raters=40),
}
RELEASED = {
    "paper, AnyCorrect": ("msmarco", "AnyCorrect"),
    "paper, Overall": ("cnndm", "overall"),
    "paper, Edit": ("cnndm", "hter"),
}


def released(task, prompt):
    """The paper's systems, without the reference; judgments are of the raters who gave them."""
    rows = {}
    for line in (PAPER / f"{task}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["system"] != "reference" and prompt in row["prompts"]:
            rows.setdefault(row["system"], {}).setdefault(row["id"], row)
    scores = [[row["prompts"][prompt] for row in one.values()] for one in rows.values()]
    names = [name for name in scores[0][0] if name not in ("gold", "human")]
    who = [[row["annotators"] for row in one.values()] for one in rows.values()]
    code = {name: i for i, name in enumerate(sorted({r for s in who for o in s for r in o}))}
    metrics = [np.array([[out[m] for m in names] for out in one], dtype=float) for one in scores]
    human = [[np.array(out["human"], dtype=float) for out in one] for one in scores]
    spread = np.sqrt(np.mean([np.concatenate(one).var() for one in human]))

    def judge(rng, system, chosen, each):
        found = np.empty((2, len(chosen), each))
        for row, output in enumerate(chosen):
            given = human[system][output]
            again = each > len(given)
            which = rng.choice(len(given), each, replace=again)
            found[0, row] = given[which]
            found[1, row] = [code[who[system][output][one]] for one in which]
        return found[0], found[1].astype(np.int64)

    rows = [
        (score, f"{system} {output}", code[name], system)
        for system, one in enumerate(human)
        for output, given in enumerate(one)
        for score, name in zip(given, who[system][output], strict=True)
    ]
    scores, outputs, raters, systems = (np.array(column) for column in zip(*rows, strict=True))
    components = crossed_components(scores, outputs, raters, systems=systems)
    share = np.bincount(raters) / len(raters)
    floor = components.leniency * float(share @ share)
    return World(metrics, judge, float(spread), raters=True, floor=floor)


def collected(world, rng, n, each, second=0):
    """Judge n items of all systems, some a second time."""
    size = min(len(one) for one in world.metrics)
    items = np.sort(rng.permutation(size)[:n])
    found = []
    for system, metric in enumerate(world.metrics):
        scores, raters = world.judge(rng, system, items, each + bool(second))
        kept = np.ones(scores.shape, dtype=bool)
        if second:
            kept[rng.permutation(n)[second:], -1] = False
        unit = np.repeat(items, kept.sum(axis=1))
        named = raters[kept] if world.raters else None
        sample = judged_outputs(scores[kept], None, unit, raters=named)
        draw = simple_draw(sample, len(metric))
        # In the order of the sample's judgments.
        known = None if sample.rater is None else np.unique(named)[sample.rater]
        pool = PoolMoments.of(metric)
        found.append(JudgedSystem(sample, draw, metric[items], items, known, pool))
    return found


def replay(world, rng, *, pilot, goal, prices, assurance=0.8):
    """Return the plan's two cases, and the half-widths of all systems over the goal for each."""
    as_sample = world.raters
    known = MeanPilot.of_systems(collected(world, rng, pilot, 2), as_sample=as_sample)
    size = min(len(one) for one in world.metrics)
    made = plan(
        known.assumed,
        half_width=goal,
        pool_size=size,
        prices=prices,
        n_metrics=world.metrics[0].shape[1],
        judged=known.judged,
        assurance=assurance,
    )
    options = Options(raters_as="adjusted" if as_sample else "fixed")
    found = []
    for case in (made.expected, made.assured):
        if case is None:
            found.append(None)
            continue
        judged = collected(
            world, rng, case.outputs, case.judgments_per_output, case.second_judgments
        )
        got = campaign_means(judged, options=options)
        widths = [one.half_width for one in got if isinstance(one, Estimate)]
        found.append(np.array(widths) / goal)
    return made, found


def measured(make, *, pilot, runs, priced, seed=0):
    rng = np.random.default_rng([seed, pilot, priced])
    rows, refused = [], 0
    for _ in range(runs):
        world = make(rng)
        wanted = 300 if priced else 150
        goal = 1.96 * np.sqrt(world.spread**2 / wanted + world.floor)
        try:
            rows.append(
                replay(world, rng, pilot=pilot, goal=goal, prices=Prices(output=5.0 * priced))
            )
        except NotEstimableError:
            refused += 1
    expected = np.concatenate([found[0] <= 1 for _, found in rows])
    sure = [found[1] <= 1 for _, found in rows if found[1] is not None]
    efficiency = [made.data_efficiency for made, _ in rows]
    return {
        "expected reached": expected.mean(),
        "assured reached": np.concatenate(sure).mean(),
        "out of reach": (refused + len(rows) - len(sure)) / runs,
        "expected judgments": np.median([made.expected.judgments for made, _ in rows]),
        "assured judgments": np.median(
            [made.assured.judgments for made, _ in rows if made.assured]
        ),
        "fewest outputs": np.quantile([made.expected.outputs for made, _ in rows], 0.1),
        "width ratio": np.mean(
            [
                found[0].mean() * made.search.goal.half_width / made.expected.half_width
                for made, found in rows
            ]
        ),
        "efficiency": np.median([one.value for one in efficiency]),
        "efficiency high": np.quantile([one.value for one in efficiency], 0.9),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--kind", action="append")
    parser.add_argument("--pilot", type=int, action="append")
    parser.add_argument("--priced", action="store_true")
    options = parser.parse_args(None if __name__ == "__main__" else [])
    makers = {name: kind.world for name, kind in KINDS.items()}
    if PAPER.exists():
        makers |= {
            name: lambda _, known=known: known
            for name, known in ((name, released(*one)) for name, one in RELEASED.items())
        }
    print(
        f"{'kind':<20}{'pilot':>6}",
        *(
            f"{one:>10}"
            for one in (
                "expected",
                "assured",
                "none",
                "judgments",
                "assured",
                "fewest",
                "ratio",
                "DE",
                "DE 90%",
            )
        ),
    )
    for name in options.kind or makers:
        for pilot in options.pilot or (20, 40, 80):
            found = measured(makers[name], pilot=pilot, runs=options.runs, priced=options.priced)
            print(f"{name:<20}{pilot:>6}", *(f"{one:>10.3g}" for one in found.values()), flush=True)


if __name__ == "__main__":
    main()
