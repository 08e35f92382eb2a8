"""Our ways to estimate the systems of a draw, and the textbook's.

A way gives for each system of a draw estimate, low and high, or the error by which it refuses.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

import numpy as np
import polars as pl
from scipy.special import stdtrit
from scipy.stats import bootstrap

from steelyard import Study
from steelyard.errors import NotEstimableError, SteelyardError
from steelyard.model.campaign import Campaign, Pools
from steelyard.model.designed import answers_of
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals
from steelyard.tables import read_judgments, read_outputs
from steelyard.version import __version__

_REFUSED = (np.nan, np.nan, np.nan)
_RESAMPLES = 1999


@dataclass(frozen=True)
class Ways:
    """Ways that are replayed together, `share` times as often as a cell is to be."""

    who: str
    version: str
    ways: dict[str, Callable]
    share: float = 1

    def answers(self, draws):
        """Answers to draws by way, each (runs, k, 3), and the first reasons of refusals."""
        found, refused = {way: [] for way in self.ways}, {}
        for draw in draws:
            for way, estimates in self.ways.items():
                answers = estimates(draw)
                for one in answers:
                    if isinstance(one, SteelyardError):
                        refused.setdefault(way, str(one))
                found[way].append(
                    [_REFUSED if isinstance(one, SteelyardError) else one for one in answers]
                )
        return {way: np.array(answers) for way, answers in found.items()}, refused


def study(draw):
    """The study that a user would read of a draw. Names of items sort as their numbers do."""
    names = [one.system.items.astype(str) for one in draw]
    longest = max(np.strings.str_len(some).max() for some in names)
    names = [np.strings.zfill(some, longest) for some in names]
    outputs = pl.concat(
        pl.DataFrame(
            {"item": names[number], "system": f"s{number}"}
            | {f"m{j}": values for j, values in enumerate(one.system.metrics.T)}
        )
        for number, one in enumerate(draw)
    )
    judgments = pl.concat(
        pl.DataFrame(
            {"item": names[number][one.chosen], "system": f"s{number}", "prompt": "overall"}
            | ({} if one.raters is None else {"rater": [f"r{code}" for code in one.raters]})
            | {"score": one.human}
        )
        for number, one in enumerate(draw)
    )
    return Study(read_outputs(outputs), read_judgments(judgments))


def default(draw):
    """`Study.estimate` as it is by default, without files: the model of the same numbers."""
    try:
        fitted = fit(record(draw))
        raters = fitted.campaign.rater
        several = raters is not None and len(np.unique(raters)) > 1
        answers = answers_of(fitted, "pool" if several else "these raters")
        found = intervals(fitted, answers, np.eye(len(draw)), 0.95)
    except SteelyardError as error:
        return [error] * len(draw)
    return list(zip(found.estimate, found.low, found.high, strict=True))


def record(draw):
    """The judgments of a draw as the model reads them."""
    k, judged = len(draw), [one.system.items[one.chosen] for one in draw]
    names, item = np.unique(np.concatenate(judged), return_inverse=True)
    pools = [one.system for one in draw]
    common = [[np.isin(one.items, other.items).sum() for other in pools] for one in pools]
    columns = pools[0].metrics.shape[1]
    values = [one.metrics for one in pools]
    raters = None
    if draw[0].raters is not None:
        raters = np.unique(np.concatenate([one.raters for one in draw]), return_inverse=True)[1]
    return Campaign(
        systems=tuple(f"s{number}" for number in range(k)),
        metrics=tuple(f"m{number}" for number in range(columns)),
        score=np.concatenate([one.human for one in draw]).astype(float),
        output=np.arange(len(item)),
        item=item,
        writers=np.repeat(np.eye(k), [len(one) for one in judged], axis=0),
        metric=np.concatenate([own[one.chosen] for own, one in zip(values, draw, strict=True)]),
        pools=Pools.apart(
            np.array([len(one.items) for one in pools]),
            np.array([own.mean(axis=0) for own in values]).reshape(k, columns),
            np.array([np.cov(own.T, ddof=0).reshape(columns, columns) for own in values]),
            np.array(common, dtype=float),
        ),
        in_pool=np.stack([np.isin(names, one.items) for one in pools], axis=1),
        rater=raters,
    )


def plain_t(one):
    n, mean = len(one.human), one.human.mean()
    reach = stdtrit(n - 1, 0.975) * one.human.std(ddof=1) / np.sqrt(n)
    return mean, mean - reach, mean + reach


def _apart(estimate):
    """A way that takes the systems one by one."""

    def each(draw):
        return [_answered(estimate, one) for one in draw]

    return each


def _answered(estimate, one):
    try:
        return estimate(one)
    except SteelyardError as error:
        return error


def _bootstrap(one):
    """Scipy's default, BCa, on the mean."""
    with warnings.catch_warnings(action="ignore"):
        got = bootstrap((one.human,), np.mean, n_resamples=_RESAMPLES, batch=500, rng=0)
    ends = got.confidence_interval
    if np.isnan([ends.low, ends.high]).any():
        raise NotEstimableError("no number for an end of the interval")
    return one.human.mean(), ends.low, ends.high


# The default is cheap to replay, and its coverage is to be known to a fraction of a point.
OURS = (
    Ways(
        "steelyard",
        __version__,
        {"steelyard estimate": default, "plain t": _apart(plain_t)},
        share=4,
    ),
    Ways(
        "scipy",
        metadata.version("scipy"),
        {"scipy bootstrap (BCa)": _apart(_bootstrap)},
        share=0.2,
    ),
)
