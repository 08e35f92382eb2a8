"""Do plans from small pilots keep their word? How often the goal is reached, and with what judgments.

    python -m benchmarks.plans [--runs R] [--kind NAME ...] [--fresh] [--pilot P ...]

A replay draws a pilot of P items, each output judged twice, plans from it as `steelyard plan` does, collects
what the plan asks for on new draws of the same pool, and estimates as `steelyard estimate` does by default.
Reached is the share of all systems' intervals that are no wider than the goal. The goal is the half-width
that 80% of campaigns with 150 outputs of each system reach (300 with priced outputs, where an output costs
five judgments), each judged once: so 150 is what a plan with 80% assurance would ask for if it knew all.
Systems of one campaign are not independent: the error of the share is that of campaigns. `--fresh` takes the
kinds that nothing was chosen on.
"""

import argparse

import numpy as np

from benchmarks.plan_worlds import FRESH, KINDS, RELEASED, makers
from steelyard.arrays import PoolMoments, judged_outputs, simple_draw
from steelyard.design import Prices, plan
from steelyard.errors import NotEstimableError
from steelyard.estimate import Estimate, Options
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.controlled import JudgedSystem
from steelyard.study.mean_pilot import MeanPilot

# From so many the reachable goal is taken.
CAMPAIGNS = 60


def options_for(world):
    return Options(raters_as="adjusted" if world.raters else "fixed")


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
    found = []
    for case in (made.expected, made.assured):
        if case is None:
            found.append(None)
            continue
        judged = collected(
            world, rng, case.outputs, case.judgments_per_output, case.second_judgments
        )
        got = campaign_means(judged, options=options_for(world), beside=False)
        # Judgments that are all equal give no interval.
        widths = [one.half_width if isinstance(one, Estimate) else np.inf for one in got]
        found.append(np.array(widths) / goal)
    return made, found


def reachable_goal(make, *, outputs, seed=0):
    """The half-width that 80% of campaigns with so many outputs of each system reach."""
    rng = np.random.default_rng([seed, outputs])
    widths = []
    for _ in range(CAMPAIGNS):
        world = make(rng)
        found = campaign_means(
            collected(world, rng, outputs, 1), options=options_for(world), beside=False
        )
        widths += [one.half_width for one in found if isinstance(one, Estimate)]
    return float(np.quantile(widths, 0.8))


def measured(make, *, pilot, runs, priced, goal, seed=0):
    rng = np.random.default_rng([seed, pilot, priced])
    rows, refused = [], 0
    for _ in range(runs):
        world = make(rng)
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
        "assured reached": np.concatenate(sure).mean() if sure else np.nan,
        "error": np.std([one.mean() for one in sure]) / np.sqrt(max(len(sure), 1)),
        "out of reach": (refused + len(rows) - len(sure)) / runs,
        "expected judgments": np.median([made.expected.judgments for made, _ in rows]),
        "assured judgments": np.median(
            [made.assured.judgments for made, _ in rows if made.assured] or [np.nan]
        ),
        "fewest outputs": np.quantile([made.expected.outputs for made, _ in rows], 0.1),
        "width ratio": np.median(
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
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args(None if __name__ == "__main__" else [])
    worlds = makers()
    print(
        f"{'kind':<20}{'pilot':>6}",
        *(
            f"{one:>10}"
            for one in (
                "expected",
                "assured",
                "error",
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
    for name in options.kind or (FRESH if options.fresh else [*KINDS, *RELEASED]):
        goal = reachable_goal(worlds[name], outputs=300 if options.priced else 150)
        for pilot in options.pilot or (20, 40, 80):
            found = measured(
                worlds[name], pilot=pilot, runs=options.runs, priced=options.priced, goal=goal
            )
            print(f"{name:<20}{pilot:>6}", *(f"{one:>10.3g}" for one in found.values()), flush=True)


if __name__ == "__main__":
    main()
