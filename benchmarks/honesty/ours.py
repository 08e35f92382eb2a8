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

from steelyard import Study, control_variates, sample_mean
from steelyard.errors import NotEstimableError, SteelyardError
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.campaign_leniency import FEW_RATERS
from steelyard.estimate.options import Options
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


def default(draw, *, metrics=True):
    """`Study.estimate` as it is by default, without files and without what it prints beside an interval."""
    raters = {code for one in draw if one.raters is not None for code in one.raters}
    options = Options(raters_as="adjusted" if len(raters) >= FEW_RATERS else "fixed")
    # Where all judgments of a system are equal, the plain mean beside it may be what refuses.
    beside = any(np.ptp(one.human) == 0 for one in draw)
    found = campaign_means(
        [one.judged(metrics=metrics) for one in draw], options=options, beside=beside
    )
    return [one if isinstance(one, SteelyardError) else _ends(one) for one in found]


def plain_t(one):
    n, mean = len(one.human), one.human.mean()
    reach = stdtrit(n - 1, 0.975) * one.human.std(ddof=1) / np.sqrt(n)
    return mean, mean - reach, mean + reach


def _ends(one):
    return one.estimate, one.low, one.high


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


def _alone(slope):
    def estimate(one):
        first, pool = one.metrics[:, 0], one.system.metrics[:, 0]
        return _ends(control_variates(one.human, first, pool, items=one.chosen, slope=slope))

    return estimate


def _sample_mean(one):
    return _ends(sample_mean(one.human, items=one.chosen, pool_size=len(one.system.human)))


# The default is cheap to replay, and its coverage is to be known to a fraction of a point.
OURS = (
    Ways(
        "steelyard",
        __version__,
        {"steelyard estimate": default, "plain t": _apart(plain_t)},
        share=4,
    ),
    Ways(
        "steelyard, other ways",
        __version__,
        {
            "steelyard estimate, no metrics": lambda draw: default(draw, metrics=False),
            "steelyard sample_mean": _apart(_sample_mean),
            "steelyard control_variates": _apart(_alone("least-squares")),
            "steelyard control_variates, plug-in": _apart(_alone("plug-in")),
        },
        share=0.2,
    ),
    Ways(
        "scipy",
        metadata.version("scipy"),
        {"scipy bootstrap (BCa)": _apart(_bootstrap)},
        share=0.2,
    ),
)
