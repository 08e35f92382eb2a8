"""What a design buys: error of the plain mean of a simple sample over that of other samples and estimates.

    python -m benchmarks.designs [CAMPAIGNS]

100 of 1,000 outputs, one judgment each with noise of variance one half, human scores of variance 1; strata are
the quintiles of the metric. Linear: human scores linear in the metric with correlation 0.6. Bent: as much of the variance explained
by the metric's square. Uneven: linear, with an error that grows as exp(g / 2), which is known.
"""

import sys

import numpy as np

from steelyard import control_variates, stratified_mean, weighted_mean
from steelyard.design.sampling import draw_sample
from steelyard.design.strata import quantile_strata

SIZE, N, CAMPAIGNS = 1_000, 100, 1_000
SHAPES = ("linear", "bent", "uneven")


def pool(shape, rng):
    """The metric, the human scores, and the size of the metric's error."""
    metric = rng.standard_normal(SIZE)
    error = np.exp(metric / 2) if shape == "uneven" else np.ones(SIZE)
    known = (metric**2 - 1) / np.sqrt(2) if shape == "bent" else metric
    rest = error * rng.standard_normal(SIZE) / np.sqrt(np.mean(error**2))
    return metric, 0.6 * known + 0.8 * rest, error


def estimates(shape, rng, seed):
    """Errors of each way in one campaign."""
    metric, human, error = pool(shape, rng)
    judgments = human + np.sqrt(0.5) * rng.standard_normal(SIZE)
    strata = quantile_strata(metric, 5)
    names, counts = np.unique(strata, return_counts=True)
    sizes = dict(zip(names.tolist(), counts.tolist(), strict=True))
    pools = {name: metric[strata == name] for name in sizes}
    spread = {
        name: float(np.sqrt(0.5 + 0.64 * np.mean((error**2)[strata == name]) / np.mean(error**2)))
        for name in sizes
    }
    simple = draw_sample(SIZE, N, seed=seed).positions
    even = draw_sample(SIZE, N, design="stratified", strata=strata, seed=seed).positions
    neyman = draw_sample(
        SIZE, N, design="stratified", strata=strata, deviations=spread, seed=seed
    ).positions

    def stratified(items, *, sloped, **options):
        given = {"metric": metric[items], "metric_pool": pools} if sloped else {}
        return stratified_mean(
            judgments[items], strata[items], sizes, items=items, **given, **options
        )

    found = {
        "simple, plain mean": judgments[simple].mean(),
        "simple, control variates": control_variates(
            judgments[simple], metric[simple], metric, items=simple
        ).estimate,
        "simple, post-stratified": stratified(simple, sloped=False, poststratified=True).estimate,
        "stratified, mean": stratified(even, sloped=False).estimate,
        "stratified, combined slope": stratified(even, sloped=True).estimate,
        "Neyman, combined slope": stratified(neyman, sloped=True).estimate,
    }
    if shape == "uneven":
        by_size = np.sqrt(0.5 + 0.64 * error**2 / np.mean(error**2))
        draw = draw_sample(SIZE, N, design="proportional-to-size", size=by_size, seed=seed)
        found["by size, control variates"] = weighted_mean(
            judgments[draw.positions],
            draw.probability,
            pool_size=SIZE,
            metric=metric[draw.positions],
            metric_pool=metric,
            items=draw.positions,
        ).estimate
    return {way: value - human.mean() for way, value in found.items()}


def main(campaigns=CAMPAIGNS):
    print(f"{campaigns:,} campaigns; squared error of the plain mean over each way's")
    for shape in SHAPES:
        rng = np.random.default_rng([SHAPES.index(shape), 1])
        errors = [estimates(shape, rng, run) for run in range(campaigns)]
        squares = {way: np.array([one[way] ** 2 for one in errors]) for way in errors[0]}
        plain = squares.pop("simple, plain mean")
        print(shape)
        for way, other in squares.items():
            ratio = plain.mean() / other.mean()
            doubt = (plain - ratio * other).std() / other.mean() / np.sqrt(campaigns)
            print(f"  {way:28} {ratio:.2f} ± {doubt:.2f}", flush=True)


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:]))
