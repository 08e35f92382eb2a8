"""Does `simulate` say what campaigns from the full pool show? Errors and half-widths of both, by kind.

    python -m benchmarks.replay_agreement [CAMPAIGNS] [RUNS]

A world has pools of 400 outputs of three systems. CAMPAIGNS finished campaigns judge 200 items of it twice each, and
`simulate` replays each 40 times with 60 items. Beside it RUNS campaigns of 60 items are drawn from the full pool, judged
once and estimated by `estimate`, about the true means. Printed are the ratios of `simulate` to the full pool, with their
standard errors: the finished campaigns of a kind differ, and the independent ones do.
"""

import sys
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from steelyard import Study
from steelyard.sampling.sample import sample
from steelyard.tables import read_outputs

SIZE, JUDGED, N, REPLAYS = 400, 200, 60, 40
SYSTEMS = ("a", "b", "c")
SHAPES = {
    "normal": lambda level, rng: level + 0.6 * rng.standard_normal(level.shape),
    "binary": lambda level, rng: (rng.random(level.shape) < 1 / (1 + np.exp(-1.5 * level))).astype(
        float
    ),
    "counts": lambda level, rng: rng.poisson(np.exp(0.7 * level)).astype(float),
    "ceiling": lambda level, rng: np.clip(
        np.round(4.3 + level + 0.6 * rng.standard_normal(level.shape)), 1, 5
    ),
}
MEANS = {
    "binary": lambda level: 1 / (1 + np.exp(-1.5 * level)),
    "counts": lambda level: np.exp(0.7 * level),
}


@dataclass(frozen=True)
class Kind:
    """A kind of campaign."""

    shape: str = "normal"
    metric: float = 0.8
    metrics: int = 1
    lenient: float = 0.2
    copied: float = 0.0
    draw: dict = field(default_factory=dict)


KINDS = {
    "normal, twelve raters": Kind(),
    "binary": Kind("binary", lenient=0.0),
    "counts with a long tail": Kind("counts", lenient=0.0),
    "five scores, most at the upper end": Kind("ceiling", lenient=0.0),
    "ten useless metrics": Kind(metric=0.0, metrics=10),
    "half of the texts of two systems alike": Kind(copied=0.5),
    "spread draw": Kind(draw={"design": "spread", "by": ["m0"]}),
}


class World:
    """Pools of three systems, and who judges them."""

    def __init__(self, kind, seed):
        rng = np.random.default_rng(seed)
        self.kind = kind
        item = rng.standard_normal(SIZE)
        level = 0.7 * item + 0.7 * rng.standard_normal((len(SYSTEMS), SIZE))
        error = rng.standard_normal((len(SYSTEMS), SIZE, kind.metrics))
        metrics = kind.metric * level[:, :, np.newaxis] + 0.6 * error
        # The second system copies the first on some items.
        self.same = rng.random(SIZE) < kind.copied
        level[1, self.same], metrics[1, self.same] = level[0, self.same], metrics[0, self.same]
        self.level = level
        self.leniency = kind.lenient * rng.standard_normal(12)
        self.leniency -= self.leniency.mean()
        self.items = np.array([f"i{one:04}" for one in range(SIZE)])
        self.frame = pl.concat(
            pl.DataFrame(
                {
                    "item": self.items,
                    "system": name,
                    "output": [
                        f"{one} of {'a' if name == 'b' and self.same[one] else name}"
                        for one in range(SIZE)
                    ],
                }
                | {f"m{j}": metrics[number, :, j] for j in range(kind.metrics)}
            )
            for number, name in enumerate(SYSTEMS)
        )
        self.outputs = read_outputs(self.frame)
        self.truth = self._means().mean(axis=1)

    def _means(self):
        if self.kind.shape in MEANS:
            return MEANS[self.kind.shape](self.level)
        if self.kind.shape == "normal":
            return self.level
        again = np.repeat(self.level[:, :, np.newaxis], 4000, axis=2)
        return SHAPES[self.kind.shape](again, np.random.default_rng(1)).mean(axis=2)

    def judgments(self, rng, chosen, *, each):
        """Judge items of all systems by so many raters each; a text of two systems once."""
        rows = []
        for number, name in enumerate(SYSTEMS):
            judged = chosen[~self.same[chosen]] if name == "b" else chosen
            raters = np.argsort(rng.random((len(judged), 12)), axis=1)[:, :each]
            level = self.level[number, judged][:, np.newaxis] + self.leniency[raters]
            scores = SHAPES[self.kind.shape](level, rng)
            rows.append(
                pl.DataFrame(
                    {
                        "item": np.repeat(self.items[judged], each),
                        "system": name,
                        "rater": [f"r{one}" for one in raters.ravel()],
                        "prompt": "p",
                        "score": scores.ravel(),
                    }
                )
            )
        found = pl.concat(rows)
        return found.drop("rater") if not self.kind.lenient else found

    def replayed(self, rng):
        """Squared error and half-width that `simulate` says of one finished campaign."""
        judged = self.judgments(rng, rng.permutation(SIZE)[:JUDGED], each=2)
        study = Study.read(self.frame, judged)
        seed = int(rng.integers(2**31))
        found = study.simulate_means([N], runs=REPLAYS, seed=seed, **self.kind.draw)[-2]
        return found.error**2, found.half_width

    def independent(self, rng):
        """Mean squared error and half-width of one campaign of the full pool."""
        seed = int(rng.integers(2**31))
        drawn = sample(self.outputs, N, seed=seed, **self.kind.draw).frame
        chosen = np.searchsorted(self.items, np.unique(drawn["item"].to_numpy()))
        judged = self.judgments(rng, chosen, each=1)
        recorded = drawn.drop("output", cs_metrics(drawn))
        judged = judged.join(recorded, on=["item", "system"], how="left", maintain_order="left")
        found = Study.read(self.frame, judged).estimate()
        errors = [
            found[name].estimate - truth for name, truth in zip(SYSTEMS, self.truth, strict=True)
        ]
        return np.mean(np.square(errors)), np.mean([found[name].half_width for name in SYSTEMS])


def cs_metrics(frame):
    return [name for name in frame.columns if name.startswith("m")]


def ratio(ours, theirs):
    """The ratio of two means, with its standard error."""
    value = np.mean(ours) / np.mean(theirs)
    doubt = [np.var(one, ddof=1) / len(one) / np.mean(one) ** 2 for one in (ours, theirs)]
    return value, value * np.sqrt(sum(doubt))


def main():
    given = [int(one) for one in sys.argv[1:]] if __name__ == "__main__" else []
    campaigns, runs = (*given, 12, 400)[:2] if len(given) != 1 else (given[0], 400)
    print("| kind | error, `simulate` over full pool | half-width |")
    print("|---|---|---|")
    for name, kind in KINDS.items():
        world = World(kind, seed=5)
        rng = np.random.default_rng(6)
        ours = np.array([world.replayed(rng) for _ in range(campaigns)]).T
        theirs = np.array([world.independent(rng) for _ in range(runs)]).T
        square, doubt = ratio(ours[0], theirs[0])
        width, width_doubt = ratio(ours[1], theirs[1])
        error = np.sqrt(square)
        print(
            f"| {name} | {error:.3f} ± {doubt / 2 / error:.3f} | {width:.3f} ± {width_doubt:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
