"""Our ways to estimate the systems of a draw, and the textbook's, as (k, 3): estimate, low, high."""

import warnings

import numpy as np
import polars as pl
from scipy.special import stdtrit
from scipy.stats import bootstrap

from steelyard import Study, control_variates, sample_mean
from steelyard.data import read_judgments, read_outputs
from steelyard.errors import NotEstimableError, SteelyardError

_REFUSED = (np.nan, np.nan, np.nan)
_RESAMPLES = 1999


def study(draw):
    """The study that a user would read of a draw."""
    outputs = pl.concat(
        pl.DataFrame(
            {"item": one.system.items, "system": f"s{number}"}
            | {f"m{j}": values for j, values in enumerate(one.system.metrics.T)}
        )
        for number, one in enumerate(draw)
    )
    judgments = pl.concat(
        pl.DataFrame(
            {"item": one.system.items[one.chosen], "system": f"s{number}", "prompt": "overall"}
            | ({} if one.raters is None else {"rater": [f"r{code}" for code in one.raters]})
            | {"score": one.human}
        )
        for number, one in enumerate(draw)
    )
    return Study(read_outputs(outputs), read_judgments(judgments))


def ours(draws):
    """Answers of all our ways to draws, by way, each (runs, k, 3), and the first reasons of refusals."""
    found, refused = {way: [] for way in (*_TOGETHER, *_APART)}, {}
    for draw in draws:
        read = study(draw)
        for way, options in _TOGETHER.items():
            try:
                by_name = {one.system: _ends(one) for one in read.estimate(**options)}
            except SteelyardError as error:
                refused.setdefault(way, str(error))
                by_name = {}
            found[way].append([by_name.get(f"s{i}", _REFUSED) for i in range(len(draw))])
        for way, estimate in _APART.items():
            found[way].append([_answered(estimate, one, refused, way) for one in draw])
    return {way: np.array(answers) for way, answers in found.items()}, refused


def _answered(estimate, one, refused, way):
    try:
        return estimate(one)
    except SteelyardError as error:
        refused.setdefault(way, str(error))
        return _REFUSED


def _ends(one):
    return one.estimate, one.low, one.high


def plain_t(one):
    n, mean = len(one.human), one.human.mean()
    reach = stdtrit(n - 1, 0.975) * one.human.std(ddof=1) / np.sqrt(n)
    return mean, mean - reach, mean + reach


def _bootstrap(one):
    """Scipy's default, BCa, on the mean."""
    with warnings.catch_warnings(action="ignore"):
        got = bootstrap((one.human,), np.mean, n_resamples=_RESAMPLES, batch=500, rng=0)
    ends = got.confidence_interval
    if np.isnan([ends.low, ends.high]).any():
        raise NotEstimableError("no number for an end of the interval")
    return one.human.mean(), ends.low, ends.high


def _alone(slope):
    def estimate(one):
        first, pool = one.metrics[:, 0], one.system.metrics[:, 0]
        return _ends(control_variates(one.human, first, pool, items=one.chosen, slope=slope))

    return estimate


def _sample_mean(one):
    return _ends(sample_mean(one.human, items=one.chosen, pool_size=len(one.system.human)))


_TOGETHER = {
    "steelyard estimate": {},
    "steelyard estimate, no metrics": {"metrics": []},
}
_APART = {
    "steelyard sample_mean": _sample_mean,
    "steelyard control_variates": _alone("least-squares"),
    "steelyard control_variates, plug-in": _alone("plug-in"),
    "plain t": plain_t,
    "scipy bootstrap (BCa)": _bootstrap,
}
