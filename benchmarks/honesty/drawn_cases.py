"""The draws of a cell, the same for every contestant, and how their answers are counted."""

from dataclasses import dataclass

import numpy as np

from benchmarks.honesty.systems import drawn

SEED = 1


def replays(kind, n, runs, *, seed=SEED):
    """Yield, replay by replay, the drawn systems of a campaign."""
    for run in range(runs):
        rng = kind.rng(n, run, seed=seed)
        yield drawn(kind.campaign(rng), n, shared=not kind.own_items, rng=rng)


def arrays(draws, bounds):
    """What a peer sees of draws: each system is a case, with its first metric as the prediction."""
    systems = [one for draw in draws for one in draw]
    return {
        "human": np.array([one.human for one in systems]),
        "chosen": np.array([one.chosen for one in systems]),
        "pool": np.array([one.system.metrics[:, 0] for one in systems]),
        "bounds": np.array(bounds or (np.nan, np.nan)),
    }


@dataclass(frozen=True)
class Answers:
    """Estimate, low and high of each system, (runs, k, 3), about the truth; nan where refused."""

    about: np.ndarray

    @classmethod
    def of(cls, draws, found):
        """From answers on the scores' own scale, in standard deviations of human scores."""
        truth = np.array([[one.system.truth for one in draw] for draw in draws])
        scale = np.array([[one.system.human.std() for one in draw] for draw in draws])
        shape = (*truth.shape, 3)
        return cls((np.reshape(found, shape) - truth[..., None]) / scale[..., None])

    @classmethod
    def joined(cls, parts):
        """The replays of several, one after the other."""
        return cls(np.concatenate([one.about for one in parts]))

    def counted(self, plain):
        """Coverage, width, bias and error, with standard errors over replays, against plain t's."""
        error, low, high = np.moveaxis(self.about, -1, 0)
        known = ~np.isnan(self.about).any(axis=-1)
        if not known.any():
            return {"refused": 1.0}
        held = np.where(known, (low <= 0) & (high >= 0), np.nan)
        base = np.where(known, plain.about[..., 0] ** 2, np.nan)
        wide = np.where(known, plain.about[..., 2] - plain.about[..., 1], np.nan)
        coverage, coverage_se = _mean(held)
        bias, bias_se = _mean(np.where(known, error, np.nan))
        ratio, ratio_se = _ratio(np.where(known, error**2, np.nan), base)
        return {
            "refused": short(1 - known.mean()),
            "coverage": short(coverage),
            "coverage_se": short(coverage_se),
            "worst_system": short(np.nanmin(np.nanmean(held, axis=0))),
            "width": short(np.nanmean(np.where(known, high - low, np.nan))),
            "width_ratio": short(np.nansum(np.where(known, high - low, np.nan)) / np.nansum(wide)),
            "bias": short(bias),
            "bias_se": short(bias_se),
            "cost": short(ratio),
            "cost_se": short(ratio_se),
        }


def _mean(values):
    """Mean, and its standard error over replays, whose systems share items."""
    by_run = np.nanmean(values, axis=1) if not np.isnan(values).any() else _by_run(values)
    return by_run.mean(), by_run.std() / np.sqrt(max(len(by_run) - 1, 1))


def _by_run(values):
    some = ~np.isnan(values).all(axis=1)
    return np.nanmean(values[some], axis=1)


def _ratio(over, under):
    """Ratio of two means, and its standard error by linearisation over replays."""
    some = ~np.isnan(over).all(axis=1)
    over, under = np.nansum(over[some], axis=1), np.nansum(under[some], axis=1)
    ratio = over.sum() / under.sum()
    rest = over - ratio * under
    return ratio, rest.std() / under.mean() / np.sqrt(max(len(rest) - 1, 1))


def short(value):
    return float(f"{value:.4g}")
