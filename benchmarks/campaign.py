"""The default of `Study.estimate`, all systems together, against simpler ways. Behind docs/decisions/0006.

    python -m benchmarks.campaign [honesty] [paper] [choices] [demo] [speed]

honesty: generated campaigns. paper: the judgments that Chaganty et al. (2018) released, each system's
judged outputs being the pool. choices: what each part of the default brings. demo: share of intervals that hold the truth of the built-in campaign.
speed: seconds and memory.

"Best metric" is least squares on the one metric with the least error, chosen with hindsight. "Fixed" is the
default where raters are unknown, "adjusted" where at least five are known.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import polars as pl

from benchmarks.campaign_choices import VARIANTS, of_variant
from benchmarks.campaign_speed import speed
from benchmarks.contestants import held, replay, squared_error, width
from benchmarks.replays import PROMPTS, busy_raters, generated, released
from steelyard.demo import campaign
from steelyard.study import Study

# systems, metrics, what they are worth, scores, judged outputs of each system, on shared items
SCENARIOS = (
    (4, 1, "one good", "normal", 10, False),
    (4, 10, "useless", "normal", 10, False),
    (4, 10, "one good", "normal", 10, True),
    (4, 10, "weak", "normal", 20, False),
    (4, 40, "one good", "normal", 30, True),
    (12, 60, "weak", "normal", 30, False),
    (8, 20, "correlated", "binary", 20, True),
    (8, 5, "weak", "ceiling", 20, True),
    (4, 5, "one good", "square", 20, False),
    (4, 5, "one good", "exp", 10, False),
    (4, 5, "one good", "exp", 30, True),
    (4, 10, "wild scales", "normal", 50, True),
    (4, 5, "one good", "binary", 200, False),
    (6, 3, "one good", "rare", 20, False),
    (2, 5, "one good", "normal", 20, False),
    (1, 1, "one good", "normal", 10, False),
    (1, 10, "useless", "normal", 30, False),
    (1, 5, "one good", "exp", 30, False),
)
CONTESTANTS = ("plain t", "best metric", "fixed", "adjusted")
PARTS = ("honesty", "paper", "choices", "demo", "speed")
# Scenarios that show what the parts of the default bring.
CHOSEN = tuple(SCENARIOS[number] for number in (0, 1, 2, 4, 5, 6, 9))


def main(parts=PARTS):
    known = {"honesty": honesty, "paper": paper, "choices": choices, "demo": demo, "speed": speed}
    for part in parts:
        print(f"\n{part}", flush=True)
        known[part]()


def honesty(runs=200):
    print(f"{runs} runs, {4 * runs} of one system\n{_head(62, CONTESTANTS[:3])}")
    for scenario, outcome in zip(
        SCENARIOS, _each(partial(of_scenario, runs), SCENARIOS), strict=True
    ):
        k, p, metrics, shape, n, shared = scenario
        items = "same items" if shared else "own items"
        print(f"{k:2} systems, {p:2} {metrics:11} {shape:7} n = {n:<3} {items:11}", end="")
        _print(outcome)


def paper(runs=100):
    for task, prompt in PROMPTS:
        number, share, less, spread = busy_raters(task, prompt)
        print(
            f"{prompt:12}{number} raters, ten give {share:.0%} of the judgments; mean over raters less "
            f"mean over judgments {less:+.3f} (standard deviation of judgments {spread:.2f})"
        )
    print(f"{runs} runs of 4 systems\n{_head(42, CONTESTANTS)}")
    cells = [
        (*where, n, shared)
        for n in (10, 20, 30, 50)
        for where in PROMPTS
        for shared in (False, True)
    ]
    for (_, prompt, n, shared), outcome in zip(
        cells, _each(partial(of_paper, runs), cells), strict=True
    ):
        print(f"{prompt:12} n = {n:<3} {'same items' if shared else 'own items':14}", end="")
        _print(outcome)


def of_scenario(runs, scenario):
    k, p, metrics, shape, n, shared = scenario
    rng = np.random.default_rng(1)
    campaigns = [generated(rng, k=k, p=p, metrics=metrics, shape=shape) for _ in range(5)]
    return replay(campaigns, n, shared=shared, runs=runs if k > 1 else 4 * runs)


def of_paper(runs, cell):
    task, prompt, n, shared = cell
    systems, _ = released(task, prompt)
    return replay([systems], n, shared=shared, runs=runs)


def _each(work, cells):
    with ProcessPoolExecutor(2) as pool:
        yield from pool.map(work, cells)


def _head(indent, contestants):
    names = "".join(f"{name:^21}" for name in contestants)
    return f"{'':{indent}}{names}  (coverage, width and error over plain t's)  fixed less best"


def _print(outcome):
    """Print coverage, width and error of each, and the new error less the best other's."""
    plain = outcome["plain t"]
    base = squared_error(plain).mean()
    for name in CONTESTANTS:
        if name in outcome:
            found = outcome[name]
            same = plain[: len(found)]
            error = squared_error(found).mean() / squared_error(same).mean()
            print(f"{held(found):8.3f} {width(found) / width(same):5.2f} {error:5.3f}", end=" ")
    others = [name for name in CONTESTANTS[:2] if name in outcome]
    best = min(others, key=lambda name: squared_error(outcome[name]).mean())
    less = (squared_error(outcome["fixed"]) - squared_error(outcome[best])).mean(axis=1) / base
    print(f"   {less.mean():+.3f} +- {less.std() / np.sqrt(len(less)):.3f} ({best})", flush=True)


def choices(runs=100):
    """Print coverage, width and error of the default with one part changed at a time."""
    print(f"{'':22}" + "".join(f"{f'{k}x{p} {m} {s} {n}':^27}" for k, p, m, s, n, _ in CHOSEN))
    cells = [(name, scenario) for name in VARIANTS for scenario in CHOSEN]
    found = list(_each(partial(of_variant, runs), cells))
    for number, name in enumerate(VARIANTS):
        row = found[number * len(CHOSEN) : (number + 1) * len(CHOSEN)]
        print(f"{name:22}" + "".join(f"{c:11.3f} {w:5.2f} {e:5.3f}    " for c, w, e in row))


def demo(seeds=100):
    """Print the share of headline intervals that hold the truth of the built-in campaign."""
    found = [row for rows in _each(of_seed, range(seeds)) for row in rows]
    rows = pl.DataFrame(found, orient="row", schema=["view", "prompt", "held", "width", "error"])
    table = rows.group_by("view", "prompt").agg(
        pl.col("held", "width").mean(), (pl.col("error") ** 2).mean().sqrt(), pl.len()
    )
    for view, prompt, share, wide, error, number in table.sort("prompt", "view").rows():
        print(
            f"{prompt:9}{view:10} {share:.3f} of {number} hold, width {wide:.3f}, error {error:.3f}"
        )
    for view, share in rows.group_by("view").agg(pl.col("held").mean()).sort("view").rows():
        print(f"both     {view:10} {share:.3f}")


def of_seed(seed):
    made = campaign(seed=seed)
    study = Study.read(
        pl.DataFrame(made.outputs, infer_schema_length=None),
        pl.DataFrame(made.judgments, infer_schema_length=None),
    )
    rows = []
    for view in (None, "random", "fixed"):
        for one in study.estimate(raters_as=view):
            truth = made.truth[one.system, one.prompt]
            ends = one.low <= truth <= one.high, one.high - one.low
            rows.append((view or "default", one.prompt, *ends, one.estimate - truth))
    return rows


if __name__ == "__main__":
    main(sys.argv[1:] or PARTS)
