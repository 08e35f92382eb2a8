"""Two systems with known variances, judged on the same items."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard import Study


@dataclass(frozen=True)
class Pairs:
    """A kind of comparison; variances of true differences and of judgments are 1 and `noise`.

    The metric, if any, has correlation `metric` with scores of one system. Raters are as lenient as
    `leniency`, in standard deviations; with `same_rater` they judge both outputs of an item.
    """

    size: int = 600
    identical: float = 0.0
    raters: int = 20
    leniency: float = 0.0
    same_rater: bool = False
    noise: float = 0.5
    metric: float = 0.0

    def outputs(self, rng):
        """Return the pool: true scores in `true`, a metric that follows them in part."""
        size = self.size
        same = rng.permutation(size) < round(self.identical * size)
        item = rng.standard_normal(size)
        own = np.sqrt(0.5) * rng.standard_normal((2, size))
        own[1, same] = own[0, same]
        true = np.sqrt(0.5) * item + own
        error = rng.standard_normal((2, size))
        error[1, same] = error[0, same]
        metric = self.metric * true + np.sqrt(1 - self.metric**2) * error
        frame = pl.concat(
            pl.DataFrame(
                {
                    "item": [f"i{one:04}" for one in range(size)],
                    "system": system,
                    "output": [f"t{i}" if same[i] else f"t{i} {system}" for i in range(size)],
                    "true": true[number],
                    "metric": metric[number],
                }
            )
            for number, system in enumerate("AB")
        )
        return frame if self.metric else frame.drop("metric")

    def judged(self, drawn, rng, *, each=1, second=0):
        """Return judgments of drawn outputs (rows in pairs): `each`, and of the first `second` one more."""
        lenient = self.leniency * rng.standard_normal(self.raters)
        sides = [drawn.filter(pl.col("system") == system) for system in "AB"]
        n = sides[0].height
        count = np.full(n, each) + (np.arange(n) < second)
        position = np.repeat(np.arange(n), count)
        turn = np.arange(len(position)) - np.repeat(np.cumsum(count) - count, count)
        order = np.argsort(rng.random((n, self.raters)), axis=1)
        parts = []
        for side, own in enumerate(sides):
            later = 0 if self.same_rater else side * count[position]
            rater = order[position, turn + later]
            noise = np.sqrt(self.noise) * rng.standard_normal(len(position))
            parts.append(
                own[position].select(
                    "item",
                    "system",
                    rater=pl.Series([f"r{one:02}" for one in rater]),
                    prompt=pl.lit("p"),
                    score=pl.col("true") + pl.Series(lenient[rater] + noise),
                )
            )
        return pl.concat(parts)


def half_width(outputs, judgments, **options):
    """Return the half-width that `compare` prints, with all its defaults."""
    study = Study.read(outputs.drop("true"), judgments)
    [found] = study.compare(pair=("A", "B"), **options)
    [one] = found.pairs
    return (one.high - one.low) / 2
