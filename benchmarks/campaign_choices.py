"""What each part of the default of `Study.estimate` brings: the default with one part changed."""

from contextlib import ExitStack
from unittest.mock import patch

import numpy as np

from benchmarks.contestants import default, held, plain_t, squared_error, width
from benchmarks.replays import drawn, generated
from steelyard.estimate import borrowed, learned


def _with_own_fold(rows, folds):
    return np.repeat(rows.sum(axis=0)[np.newaxis], folds.max() + 1, axis=0)


def _all_reliable(_y, _control, _items, folds, **_):
    return np.ones(folds.max() + 1)


def _one_scale(_y, _control, systems, folds):
    return np.ones((folds.max() + 1, systems.max() + 1))


VARIANTS = {
    "default": (),
    "explained up to 0.9": ((learned, "_EXPLAINED", (0.03, 0.1, 0.3, 0.6, 0.9)),),
    "sharpness 0, 1, 2": ((learned, "_SHARPNESS", (0, 1, 2)),),
    "sharpness 0": ((learned, "_SHARPNESS", (0,)),),
    "own fold has a say": ((learned, "_without_fold", _with_own_fold),),
    "all reliable": ((learned, "_reliability", _all_reliable),),
    "no own scales": ((learned, "_own_scales", _one_scale),),
    "nothing borrowed": ((borrowed, "MIN_SYSTEMS", 10**9),),
}


def of_variant(runs, cell):
    """Coverage, and width and error over the plain t interval's."""
    name, (k, p, metrics, shape, n, shared) = cell
    rng = np.random.default_rng(1)
    campaigns = [generated(rng, k=k, p=p, metrics=metrics, shape=shape) for _ in range(5)]
    rng = np.random.default_rng(n)
    draws = [drawn(campaigns[run % 5], n, shared=shared, rng=rng) for run in range(runs)]
    with ExitStack() as changed:
        for module, constant, value in VARIANTS[name]:
            changed.enter_context(patch.object(module, constant, value))
        found = np.array([default(systems, raters=False) for systems in draws])
    plain = np.array([[plain_t(one) for one in systems] for systems in draws])
    ratio = squared_error(found).mean() / squared_error(plain).mean()
    return held(found), width(found) / width(plain), ratio
