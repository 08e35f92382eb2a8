"""truescore: the human scores alone, and its prediction-powered estimate."""

from loop import serve
from truescore import gold_only_estimate, ppi_estimate


def alone(case):
    got = gold_only_estimate(case["human"], n_total=len(case["pool"]))
    return got.point, got.low, got.high


def corrected(case):
    got = ppi_estimate(case["pool"], case["human"], case["chosen"])
    return got.point, got.low, got.high


serve({"truescore ppi_estimate": corrected, "truescore gold_only": alone})
