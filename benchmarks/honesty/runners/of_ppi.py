"""ppi-python: the mean with its tuned weight (its default), and with the judgments alone."""

from loop import serve, unlabelled
from ppi_py import classical_mean_ci, ppi_mean_ci, ppi_mean_pointestimate


def tuned(case):
    data = case["human"], case["pool"][case["chosen"]], unlabelled(case)
    low, high = ppi_mean_ci(*data, alpha=0.05)
    return ppi_mean_pointestimate(*data)[0], low[0], high[0]


def classical(case):
    low, high = classical_mean_ci(case["human"], alpha=0.05)
    return case["human"].mean(), low, high


serve({"ppi-python ppi_mean_ci": tuned, "ppi-python classical": classical})
