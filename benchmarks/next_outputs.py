"""What the choice of the next outputs saves: judgments for the same error, over those of a simple draw of new outputs.

    python -m benchmarks.next_outputs [--runs R]

Texts: two systems with the same text for half of the items; judged are 60 items, or half as many on which the two differ. Version:
an old system was judged on 100 of 1,000 items; a new one is judged on 20 of these, or on 20 others, without second judgments and
known raters, which makes a replay cheap. Where nothing helps, no texts are shared, or items have no effect. Judgments are the ratio of squared errors of the difference times that of the judgments; in brackets two standard errors;
shown is the same of the errors that `compare` shows.
"""

import argparse
from dataclasses import replace

import numpy as np

from benchmarks.campaigns.direct import record
from benchmarks.campaigns.worlds import Cell
from steelyard.model.designed import answers_of
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals

DIFFERENCE = np.array([[-1.0, 1.0]])
POOL, OLD, NEW, PAIRS = 1000, 100, 20, 60


def world(kind, run, raters=0):
    """A campaign of two systems, with one judgment of each output, in the order of chance."""
    made = Cell(kind, k=2, n=200, p=2, raters=raters, pool=POOL).campaign(run)
    first = np.zeros(len(made.item), dtype=bool)
    output = made.system * POOL + made.item
    first[np.unique(output, return_index=True)[1]] = True
    items = np.random.default_rng([7, run]).permutation(np.unique(made.item))
    rank = np.full(POOL, POOL)
    rank[items] = np.arange(len(items))
    return of(made, first), rank


def of(made, kept):
    """The same with some of its judgments."""
    columns = ("system", "item", "score", *(() if made.rater is None else ("rater",)))
    return replace(made, **{name: getattr(made, name)[kept] for name in columns})


def answer(made):
    """Squared error of the difference, whether its interval holds, the judgments, and the squared error as shown."""
    found = fit(record(made))
    shown = intervals(found, answers_of(found), DIFFERENCE)
    truth = made.truth[1] - made.truth[0]
    holds = shown.low[0] <= truth <= shown.high[0]
    square, seen = (shown.estimate[0] - truth) ** 2, shown.standard_error[0] ** 2
    return square, holds, len(made.score), seen


def texts(kind, run):
    """A simple draw of items, and of as many judgments of items that differ."""
    made, rank = world(kind, run, raters=20)
    place = rank[made.item]
    differs = np.ones(POOL, dtype=bool)
    if made.texts is not None:
        differs = made.texts[0] != made.texts[1]
    simple = of(made, place < PAIRS)
    order = np.argsort(np.where(differs, rank, 10 * POOL))
    chosen = np.zeros(POOL, dtype=bool)
    chosen[order[: PAIRS // 2 if not differs.all() else PAIRS]] = True
    return answer(simple), answer(of(made, chosen[made.item]))


def version(kind, run):
    """A new version on other items than the old one, and on the same."""
    made, rank = world(kind, run)
    place = rank[made.item]
    old = (made.system == 0) & (place < OLD)
    apart = old | ((made.system == 1) & (place >= OLD) & (place < OLD + NEW))
    same = old | ((made.system == 1) & (place < NEW))
    return answer(of(made, apart)), answer(of(made, same))


def line(name, kind, replay, runs, *, all_count):
    """One line of the table."""
    found = np.array([replay(kind, run) for run in range(runs)], dtype=float)
    squares, holds, judgments, shown = np.moveaxis(found, 2, 0)
    count = judgments[:, 1].mean() / judgments[:, 0].mean() if all_count else 1.0
    ratio = squares[:, 1].mean() / squares[:, 0].mean()
    expected = shown[:, 1].mean() / shown[:, 0].mean()
    rng = np.random.default_rng(1)
    drawn = squares[rng.integers(runs, size=(2000, runs))].mean(axis=1)
    error = 2 * np.std(np.log(drawn[:, 1] / drawn[:, 0])) * ratio * count
    return (
        f"{name:<10}{kind:<16}{ratio * count:>8.2f} [{error:.2f}]{expected * count:>9.2f}{100 * holds[:, 0].mean():>10.1f}"
        f"{100 * holds[:, 1].mean():>10.1f}"
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args().runs
    print(f"{'':<10}{'kind':<16}{'judgments':>15}{'shown':>9}{'holds':>10}{'chosen':>10}")
    for name, kinds, replay in (
        ("texts", ("copies", "normal"), texts),
        ("version", ("useless", "normal", "shape-normal", "nearly-equal"), version),
    ):
        for kind in kinds:
            print(line(name, kind, replay, runs, all_count=replay is texts), flush=True)


if __name__ == "__main__":
    main()
