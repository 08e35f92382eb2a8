"""Simulated campaigns straight through the model of this tree, without files: quick, to try what the model does.

    python -m benchmarks.campaigns direct [--kinds KIND ...] [--k K ...] [--n N ...] [--p P ...] [--same 1 0] ...

Squared errors and widths are relative to those of plain means, as in the package's other tables; a target is missed where
the model misses it by more than two standard errors, with plain t in the place of the old tree.
"""

import argparse
import time
from dataclasses import replace
from itertools import combinations, product
from multiprocessing import Pool

import numpy as np

from benchmarks.campaigns import plain, worlds
from benchmarks.campaigns.figures import OWN, ratio, row
from benchmarks.campaigns.targets import misses
from steelyard.errors import NotEstimableError
from steelyard.model.campaign import Campaign, Pools
from steelyard.model.designed import answers_of
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals
from steelyard.model.simultaneous import together


def record(world):
    """The record of a simulated campaign, as the model reads it."""
    k, size, p = world.metrics.shape
    texts = world.texts
    if texts is None:
        code, identical, sharing = world.system * size + world.item, size * np.eye(k), np.eye(k)
        shared = np.zeros(k)
    else:
        alike = texts[:, None] == texts[None]
        identical = alike.sum(2).astype(float)
        writers = alike / alike.sum(1, keepdims=True)
        sharing = writers.mean(2)
        shared = (alike.sum(1) > 1).mean(1)
        first = alike.argmax(1)
        code = first[world.system, world.item] * size + world.item
    judged, output = np.unique(code, return_inverse=True)
    writer, item = judged // size, judged % size
    shares = np.eye(k)[writer] if texts is None else writers[writer, :, item]
    deviation = world.metrics - world.metrics.mean(1, keepdims=True)
    pools = Pools(
        size=np.full(k, size),
        metric=world.metrics.mean(1),
        covariance=np.einsum("kip,kiq->kpq", deviation, deviation) / size,
        common=np.full((k, k), float(size)),
        identical=identical,
        sharing=sharing,
        shared=shared[:, None],
        wrote=np.zeros((1, k), dtype=bool),
        likeness=identical / size,
    )
    return Campaign(
        systems=tuple(f"s{one}" for one in range(k)),
        metrics=tuple(f"m{one}" for one in range(p)),
        score=world.score,
        output=output,
        item=item,
        writers=shares,
        metric=world.metrics[writer, item],
        pools=pools,
        in_pool=np.ones((size, k), dtype=bool),
        rater=world.rater,
    )


def answer(world, level=0.95, *, without=frozenset(), designed=False):
    """The same arrays as `runner.answer`, from the model; `designed`: as if chances had been recorded."""
    k = len(world.metrics)
    found = {
        "means": np.full((k, 4), np.nan),
        "differences": np.full((k * (k - 1) // 2, 6), np.nan),
        "refused": [],
    }
    start = time.process_time()
    try:
        campaign = record(world)
        if designed:
            stands_for = campaign.pools.size[0] / len(np.unique(campaign.item))
            campaign = replace(campaign, weight=np.full(len(campaign.item), stands_for))
        fitted = fit(campaign, without=without)
        answers = answers_of(fitted)
        means = intervals(fitted, answers, np.eye(k), level)
        found["means"] = np.stack([means.estimate, means.low, means.high, means.standard_error], 1)
        pairs = np.array(list(combinations(range(k), 2)), dtype=int).reshape(-1, 2)
        if k > 1:
            forms = np.eye(k)[pairs[:, 0]] - np.eye(k)[pairs[:, 1]]
            one = intervals(fitted, answers, forms, level)
            both = together(fitted, answers, forms, level)
            found["differences"] = np.stack(
                [one.estimate, one.low, one.high, both.low, both.high, both.decided], 1
            )
    except NotEstimableError as error:
        found["refused"].append(str(error))
    return found | {"seconds": time.process_time() - start}


def _alone(world, system, level):
    """The answer by a system's own judgments, in the row of the system."""
    only = world.only(system)
    kept = slice(system, system + 1)
    texts = None if world.texts is None else world.texts[kept]
    metrics, none = world.metrics[kept], np.zeros(len(only.system), dtype=int)
    alone = answer(replace(only, metrics=metrics, texts=texts, system=none), level)
    means = np.full((len(world.metrics), 4), np.nan)
    means[system] = alone["means"][0]
    return alone | {"means": means}


def rows(cell, reps, level=0.95):
    """Plain t's and the model's figures of a cell."""
    campaigns = [cell.campaign(run) for run in range(reps)]
    base = [plain.answer(one, level) for one in campaigns]
    known = {"campaigns": campaigns, "plain": base}
    found = {"t": row(cell, "t", base, **known)}
    found["new"] = row(cell, "new", [answer(one, level) for one in campaigns], **known)
    if cell.new_version:
        own = [_alone(one, cell.k - 1, level) for one in campaigns]
        found["new" + OWN] = row(cell, "new" + OWN, own, compared=False, **known)
    return found


def line(cell, rows):
    """A cell in one line: squared error, width and coverage of means and differences, and what is missed."""
    t, new = rows["t"], rows["new"]
    words = [f"{cell.name:46s}"]
    for name in ("means", "differences"):
        part, other = getattr(new, name), getattr(t, name)
        if part is not None:
            words.append(
                f"{part.error.value:5.3f}±{part.error.error:4.3f} {part.width.value:5.3f} "
                f"{100 * part.holds.value:5.1f}±{100 * part.holds.error:3.1f} (t {100 * other.holds.value:5.1f})"
            )
    if new.together is not None:
        words.append(f"all {100 * new.together.value:5.1f}")
    if new.false_claims is not None:
        words.append(
            f"false {100 * new.false_claims.value:4.1f}±{100 * new.false_claims.error:3.1f}"
        )
    if new.wilson is not None:
        words.append(f"of Wilson {new.wilson.value:.2f}")
    own = rows.get("new" + OWN)
    if own is not None:
        words.append(f"of own {ratio(new.means.squares, own.means.squares).value:.2f}")
    missed = misses(cell, rows | {"old": t})
    return " | ".join([*words, f"{new.seconds:.3f} s", "; ".join(missed)])


def parser(prog, reps):
    """What the commands take that need no second tree."""
    found = argparse.ArgumentParser(prog=prog)
    for name, values in (
        ("--k", [5]),
        ("--n", [10, 30]),
        ("--p", [6]),
        ("--same", [1, 0]),
        ("--raters", [8]),
    ):
        found.add_argument(name, type=int, nargs="+", default=values)
    found.add_argument("--reps", type=int, default=reps, help="replays of each cell")
    found.add_argument("--jobs", type=int, default=2, help="cells at a time")
    return found


def numbers(asked):
    """The numbers of all cells that are asked for."""
    return product(asked.k, asked.n, asked.p, asked.same, asked.raters)


def _shown(task):
    cell, reps = task
    return line(cell, rows(cell, reps))


def main(given):
    asking = parser("python -m benchmarks.campaigns direct", reps=100)
    asking.add_argument(
        "--kinds", nargs="+", default=worlds.SKETCH, choices=worlds.NAMES, metavar="KIND"
    )
    asking.add_argument("--equal", type=int, nargs="+", default=[0])
    asking.add_argument("--pool", type=int, default=300, help="items of the pool")
    asked = asking.parse_args(given)
    cells = [
        worlds.Cell(kind, k, n, p, bool(same), raters, bool(equal), asked.pool)
        for kind in asked.kinds
        for (k, n, p, same, raters), equal in product(list(numbers(asked)), asked.equal)
    ]
    with Pool(asked.jobs) as pool:
        for words in pool.imap(_shown, [(cell, asked.reps) for cell in cells]):
            print(words, flush=True)
    return 0
