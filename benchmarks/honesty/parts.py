"""All cells of the benchmark, part by part, with the replays that a full run gives them."""

from functools import partial

from benchmarks.honesty import decisions, means, paper, quick, stopping
from benchmarks.honesty.kinds import SIZES
from benchmarks.honesty.peers import PEERS

# Replays of a cell by a quick peer; ours are more, those of slow peers fewer.
RUNS = {
    "quick": 16,
    "means": 250,
    "decisions": 100,
    "stopping": 100,
    "paper": 12,
}


def cells(parts=tuple(RUNS), *, runs=None, sizes=SIZES, peers=PEERS):
    """All cells of some parts, each as a key with the work, whether the results have it or not."""
    made = {
        "quick": quick.cells,
        "means": partial(means.cells, sizes=sizes, peers=peers),
        "decisions": partial(decisions.cells, peers=peers),
        "stopping": partial(stopping.cells, peers=peers),
        "paper": partial(means.cells, part="paper", kinds=paper.KINDS, sizes=sizes, peers=peers),
    }
    return [one for part in parts if part in made for one in made[part](runs or RUNS[part])]
