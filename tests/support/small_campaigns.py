"""Campaigns as the model reads them, made of a few judgments, and all that is random in them spelt out."""

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Campaign, Pools
from steelyard.model.effects import effects
from steelyard.model.fit import Fit
from steelyard.model.reml import System, Variances


def campaign(system, item, score, *, pool=40, rater=None, metric=None, **more):
    """The record of judgments of outputs by number; `metric` (k, pool, p) is known of all outputs."""
    system, item = np.asarray(system), np.asarray(item)
    k = int(system.max()) + 1
    metric = np.zeros((k, pool, 0)) if metric is None else np.asarray(metric, dtype=float)
    judged, output = np.unique(system * pool + item, return_inverse=True)
    writer, of_item = judged // pool, judged % pool
    items, code = np.unique(of_item, return_inverse=True)
    mean = metric.mean(axis=1)
    off = metric - mean[:, np.newaxis]
    pools = Pools.apart(
        np.full(k, pool),
        mean,
        np.einsum("kip,kiq->kpq", off, off) / pool,
        np.full((k, k), float(pool)),
    )
    known = {
        "systems": tuple(f"s{one}" for one in range(k)),
        "metrics": tuple(f"m{one}" for one in range(metric.shape[2])),
        "score": np.asarray(score, dtype=float),
        "output": output,
        "item": code,
        "writers": np.eye(k)[writer],
        "metric": metric[writer, of_item],
        "pools": pools,
        "in_pool": np.ones((len(items), k), dtype=bool),
        "rater": None if rater is None else np.asarray(rater),
    }
    return Campaign(**(known | more))


def crossed(rng, *, k=2, n=12, pool=40, raters=4, times=2, same=True, spread=None, p=0):
    """A campaign of items, outputs, raters, tastes and metrics, with known spreads; and its truth."""
    size = {"item": 0.8, "rater": 0.6, "taste": 0.5, "output": 0.7, "noise": 0.6} | (spread or {})
    of_item, of_rater = rng.normal(size=pool), rng.normal(size=raters)
    of_taste, of_output = rng.normal(size=(k, raters)), rng.normal(size=(k, pool))
    metric = rng.normal(size=(k, pool, p))
    human = np.arange(k)[:, np.newaxis] + size["item"] * of_item + size["output"] * of_output
    human = human + 0.5 * metric.sum(axis=2)
    rows = []
    for system in range(k):
        for item in np.arange(n) if same else rng.permutation(pool)[:n]:
            for rater in rng.permutation(raters)[:times]:
                lenient = size["rater"] * of_rater[rater] + size["taste"] * of_taste[system, rater]
                error = size["noise"] * rng.normal()
                rows.append((system, item, human[system, item] + lenient + error, rater))
    system, item, score, rater = (np.array(one) for one in zip(*rows, strict=True))
    made = campaign(system, item, score, pool=pool, rater=rater, metric=metric)
    return made, human.mean(axis=1)


def at_variances(made, theta, scale=None):
    """The model at known variances, by effect, and known spreads of the systems."""
    scale = np.ones(made.k) if scale is None else np.asarray(scale, dtype=float)
    built = effects(made)
    spread = (made.writers @ scale)[made.output]
    unit = np.exp(np.log(scale).mean())
    centre = float(made.score.mean())
    means = csr_array(made.contrast.multiply((unit / spread)[:, None]))
    system = System((made.score - centre) / spread, means, built)
    solution = system.solve(np.array([theta[name] for name in built.names]))
    known = Variances(built.names, solution, np.zeros((len(built.names),) * 2))
    return Fit(made, scale, 0.0, np.full(made.k, 10.0), centre, system, known)


def spelt_out(found, *, these_raters=False):
    """V, C and Var(target) of a fit, from every random value of every output of the pool, judged or not.

    Systems must have the same items, and no text in common.
    """
    made, scale = found.campaign, found.scale
    k, n, pool = made.k, made.n, int(made.pools.size[0])
    theta = dict(zip(found.system.effects.names, found.variances.solution.theta, strict=True))
    writer = made.writers.argmax(axis=1)
    judged = np.zeros((n, 0))
    target = np.zeros((k, 0))
    variance = []

    def add(name, of_judgments, of_means):
        nonlocal judged, target
        if name in theta:
            judged = np.hstack([judged, of_judgments])
            target = np.hstack([target, of_means])
            variance.extend([theta[name]] * of_judgments.shape[1])

    item, system = made.item[made.output], writer[made.output]
    # items 0 to m - 1 are judged ones, the others are those that nobody judged
    add("item", np.eye(pool)[item], np.full((k, pool), 1 / pool))
    # the outputs of each system, by item
    own = np.kron(np.eye(k), np.full((1, pool), 1 / pool))
    add("output", np.eye(k * pool)[system * pool + item], own)
    for column in found.system.effects.columns:
        if column.name in {"metrics", "own slopes"}:
            design = np.asarray(column.design @ np.eye(column.q))
            add(column.name, design, np.zeros((k, column.q)))
    if made.rater is not None:
        raters = int(made.rater.max()) + 1
        share = np.bincount(made.rater) / n * these_raters
        cell = np.eye(k * raters)[system * raters + made.rater]
        for name, design, means in (
            ("rater", np.eye(raters)[made.rater], np.tile(share, (k, 1))),
            ("taste", cell, np.kron(np.eye(k), share[np.newaxis])),
        ):
            # what occurs once cannot be told from noise
            often = design.sum(axis=0) > 1
            add(name, design[:, often], means[:, often])
    diagonal = np.diag(variance)
    target = scale[:, np.newaxis] * target
    v = judged @ diagonal @ judged.T + theta["noise"] * np.eye(n)
    return v, judged @ diagonal @ target.T, target @ diagonal @ target.T
