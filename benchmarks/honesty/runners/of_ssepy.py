"""ssepy: difference estimator after a simple draw, with and without its tuned weight; normal intervals.

It gives an estimate and a variance, no interval.
"""

from loop import serve
from ssepy import ModelPerformanceEvaluator

_Z = 1.959963984540054


def difference(*, tuned):
    def way(case):
        made = ModelPerformanceEvaluator(Yh=case["pool"], budget=len(case["human"]))
        made.sampler.sampling_method = "srs"
        made.sampler.sampled_indices = case["chosen"]
        got, variance = made.compute_estimate(case["human"], estimator="df", tune_power=tuned)
        reach = _Z * variance[0] ** 0.5
        return got[0], got[0] - reach, got[0] + reach

    return way


serve({"ssepy df, tuned": difference(tuned=True), "ssepy df": difference(tuned=False)})
