"""evalstats: its interval of human scores alone, and its judge corrected by them."""

import warnings

import evalstats as es
import numpy as np
from loop import serve, with_gaps

warnings.simplefilter("ignore")


def alone(case):
    known = None if np.isnan(case["bounds"]).any() else tuple(case["bounds"])
    got = es.mean_ci(case["human"], score_range=known, rng=0)
    return got.mean, got.ci_low, got.ci_high


def corrected(case):
    got = es.judge_debias_mean_ci(case["pool"], with_gaps(case), rng=0)
    return got.mean, got.ci_low, got.ci_high


serve({"evalstats mean_ci": alone, "evalstats judge_debias_mean_ci": corrected})
