"""cje-eval: the calibrated mean of a judge, with its default interval.

Labels must lie between 0 and 1. A scale without known ends is mapped by the least and greatest judgment.
"""

import warnings

import numpy as np
from cje import calibrated_mean_ci
from loop import serve, with_gaps

warnings.simplefilter("ignore")


def calibrated(case):
    low, high = case["bounds"]
    if np.isnan(low):
        low, high = case["human"].min(), case["human"].max()
    labels = (with_gaps(case) - low) / (high - low)
    got = calibrated_mean_ci(case["pool"], labels)
    return [low + (high - low) * value for value in (got.estimate, *got.ci)]


serve({"cje-eval calibrated_mean_ci": calibrated})
