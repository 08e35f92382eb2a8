"""Random campaigns as tables, and everything that a study answers about them as plain numbers."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from hypothesis import strategies

from steelyard.study import Study

SHAPES = {
    "measured": lambda z: z,
    "ratings": lambda z: np.clip(np.round(z + 3), 1, 5),
    "shares": lambda z: (z > 0) * 1.0,
    "skewed": np.exp,
}


@dataclass(frozen=True)
class Kind:
    """What a random campaign is like.

    `raters` 0: nobody knows who judged. `own_metrics`: copies of a text have metrics that differ.
    """

    seed: int
    shape: str = "measured"
    k: int = 3
    n: int = 8
    unjudged: int = 10
    p: int = 1
    raters: int = 3
    same: bool = True
    texts: bool = False
    own_metrics: bool = False

    def tables(self):
        """The outputs and the judgments."""
        rng = np.random.default_rng(self.seed)
        pool = self.n + self.unjudged
        metric = rng.normal(size=(self.k, pool, max(self.p, 1)))
        of_item, lenient = rng.normal(size=pool), 0.4 * rng.normal(size=(self.k, 9))
        copied = (rng.random((self.k, pool)) < 0.3) & self.texts
        if not self.own_metrics:  # a text has its metrics, whoever wrote it
            metric = np.where(copied[..., np.newaxis], metric[:1], metric)
        outputs, judgments = [], []
        for s in range(self.k):
            for i in range(pool):
                row = {"item": f"i{i}", "system": f"s{s}"}
                row |= {f"m{q}": metric[s, i, q] for q in range(self.p)} or {"flat": 0.0}
                if self.texts:
                    who = "everybody" if copied[s, i] else f"number {s}"
                    row["output"] = f"what {who} says about question {i}, and {i * 7919 % 101}"
                outputs.append(row)
            for i in np.arange(self.n) if self.same else rng.permutation(pool)[: self.n]:
                first = int(rng.integers(max(self.raters, 1)))
                again = self.raters > 1 and rng.random() < 0.3
                for rater in [first, (first + 1) % self.raters] if again else [first]:
                    z = 0.7 * metric[s, i, 0] + of_item[i] + 0.6 * rng.normal() + lenient[s, rater]
                    row = {"item": f"i{i}", "system": f"s{s}", "prompt": "p", "score": z + 0.3 * s}
                    judgments.append(row | ({"rater": f"r{rater}"} if self.raters else {}))
        frame = pl.DataFrame(judgments)
        shape = SHAPES[self.shape]
        return pl.DataFrame(outputs), frame.with_columns(score=shape(frame["score"].to_numpy()))


@strategies.composite
def kinds(draw, **fixed):
    """Kinds of small campaigns."""
    chosen = {
        "seed": draw(strategies.integers(0, 10_000)),
        "shape": draw(strategies.sampled_from(list(SHAPES))),
        "k": draw(strategies.integers(2, 4)),
        "n": draw(strategies.integers(3, 12)),
        "unjudged": draw(strategies.integers(0, 20)),
        "p": draw(strategies.integers(0, 3)),
        "raters": draw(strategies.integers(0, 4)),
        "same": draw(strategies.booleans()),
        "texts": draw(strategies.booleans()),
    }
    return Kind(**(chosen | fixed))


@dataclass(frozen=True)
class Answer:
    """The estimates, by system, and the differences, by pair."""

    systems: dict
    pairs: dict
    comparison: object

    @classmethod
    def of(cls, outputs, judgments, **options):
        """Ask both questions."""
        study = Study.read(outputs, judgments)
        [comparison] = study.compare(**options)
        estimates = {one.system: one for one in study.estimate(**options)}
        pairs = {(pair.a, pair.b): pair for pair in comparison.pairs}
        return cls(estimates, pairs, comparison)

    def numbers(self, names=None, *, factor=1.0, shift=0.0):
        """What is shown of each system and pair, before an affine map of the scores, by name before renaming.

        Ends of an interval come sorted, as a negative factor swaps them.
        """
        old = {new: one for one, new in (names or {}).items()}
        found = {}
        for one in self.systems.values():
            ends = sorted((end - shift) / factor for end in (one.low, one.high))
            found[old.get(one.system, one.system)] = [
                *((one.estimate - shift) / factor, one.standard_error / abs(factor), *ends),
                *(one.degrees_of_freedom, (one.baseline.estimate - shift) / factor),
            ]
        for (a, b), pair in self.pairs.items():
            a, b = old.get(a, a), old.get(b, b)  # noqa: PLW2901
            sign = (1 if a < b else -1) / factor
            ends = [sorted(sign * end for end in ends) for ends in _ends(pair)]
            found[min(a, b), max(a, b)] = [
                *(sign * pair.difference, pair.standard_error / abs(factor), *ends[0], *ends[1]),
                pair.p_value,
            ]
        return found


def _ends(pair):
    return (pair.low, pair.high), (pair.simultaneous_low, pair.simultaneous_high)


def furthest(one, other):
    """The largest difference of two `numbers`, relative to the largest number of each row."""
    assert one.keys() == other.keys()
    off = []
    for key, row in one.items():
        a, b = np.array(row), np.array(other[key])
        assert np.array_equal(np.isfinite(a), np.isfinite(b))
        finite = np.isfinite(a)
        size = np.maximum(np.abs(a[finite][:4]).max(), np.abs(a[finite]))
        off.append(np.max(np.abs(a - b)[finite] / np.maximum(size, 1e-12)))
    return max(off)
