"""10,000 bootstrap resamples of the control-variates estimate, against `scipy.stats.bootstrap`."""

import numpy as np
from scipy.stats import bootstrap

from benchmarks.measuring import seconds
from steelyard import control_variates


def main(n=200, size=2_000, resamples=10_000):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=size)
    human = 0.5 * pool[:n] + rng.normal(size=n)
    metric, centre = pool[:n], pool.mean()

    def estimate(y, g):
        return y.mean() - np.cov(y, g)[0, 1] / g.var(ddof=1) * (g.mean() - centre)

    def estimates(y, g, axis):
        deviation = g - g.mean(axis=axis, keepdims=True)
        slope = (deviation * y).sum(axis=axis) / (deviation**2).sum(axis=axis)
        return y.mean(axis=axis) - slope * (g.mean(axis=axis) - centre)

    def ours(interval):
        return control_variates(
            human,
            metric,
            pool,
            interval=interval,
            resamples=resamples,
            rng=np.random.default_rng(1),
        )

    def peer(statistic, method, *, vectorized):
        return bootstrap(
            (human, metric),
            statistic,
            paired=True,
            vectorized=vectorized,
            n_resamples=resamples,
            method=method,
            rng=np.random.default_rng(1),
        )

    print(f"n = {n}, {resamples:,} resamples, ours for the estimate and the plain mean")
    for name, method in (("percentile", "percentile"), ("bca", "BCa")):
        ourselves = seconds(lambda name=name: ours(name))
        plain = seconds(lambda m=method: peer(estimate, m, vectorized=False), repeats=2)
        vectorized = seconds(lambda m=method: peer(estimates, m, vectorized=True), repeats=3)
        print(
            f"{name:10}  steelyard {ourselves:.4f} s   scipy {plain:.3f} s ({plain / ourselves:.0f}x)"
            f"   scipy, statistic vectorised by hand {vectorized:.3f} s "
            f"({vectorized / ourselves:.1f}x)"
        )
        peers = peer(estimates, method, vectorized=True).confidence_interval
        got = ours(name)
        print(
            f"{'':10}  steelyard [{got.low:.4f}, {got.high:.4f}], scipy [{peers[0]:.4f}, {peers[1]:.4f}]"
        )


if __name__ == "__main__":
    main()
