"""What is measured: for each contest the sizes, and for each contestant the work.

A work takes a size and a folder, makes its inputs, and returns what is to be timed.
"""

# Libraries are imported where they are measured, so that each process pays for its own.
# ruff: noqa: PLC0415

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.speed import inputs

Work = Callable[[int, Path], Callable[[], object]]
US = "steelyard"


@dataclass(frozen=True)
class Contest:
    """The same job for every contestant, as `what` there is of it grows."""

    name: str
    what: str
    sizes: tuple[int, ...]
    works: dict[str, Work]
    # The greatest size for peers; they run out of memory or patience first.
    most: int = 10**9

    def asked(self):
        """Every contestant at every size that it gets."""
        for size in self.sizes:
            for who in self.works:
                if who == US or size <= self.most:
                    yield size, who


def _pool(size, _folder, *, judged=500):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=size)
    return 0.5 * pool[:judged] + rng.normal(size=judged), pool[:judged], pool


def control_variates(size, folder):
    from steelyard import control_variates as estimate

    human, metric, pool = _pool(size, folder)
    return lambda: estimate(human, metric, pool)


def ppi_mean(size, folder):
    from ppi_py import ppi_mean_ci

    human, metric, pool = _pool(size, folder)
    return lambda: ppi_mean_ci(human, metric, pool[len(human) :], alpha=0.05)


def parquet_pool(use):
    def work(size, folder):
        path = folder / "pool.parquet"
        inputs.make_pool(path, size)
        return lambda: use(path, size)

    return work


def our_pool(path, rows):
    """What an estimate needs: unique keys, moments, metrics of the judged outputs."""
    from steelyard.tables import read_judgments, read_outputs

    outputs = read_outputs(path, metrics=inputs.METRICS)
    judged = inputs.judged_items(rows).with_columns(
        pl.lit("r").alias("rater"), pl.lit("p").alias("prompt"), score=1.0
    )
    judgments = read_judgments(judged)
    outputs.check()
    assert sum(part.size for part in outputs.pool_moments().values()) == rows
    assert outputs.rows_of(judgments).height == len(judgments)


def pandas_pool(path, rows):
    """The same with the needed columns in a data frame."""
    import pandas as pd

    frame = pd.read_parquet(path, columns=["item", "system", *inputs.METRICS])
    assert not frame.duplicated(["item", "system"]).any()
    frame.groupby("system", observed=True)[list(inputs.METRICS)].cov(ddof=0)
    keys = inputs.judged_items(rows).to_pandas()
    assert len(frame.merge(keys, on=["item", "system"])) == len(keys)


def scored(size, folder):
    from steelyard.scoring import score_file

    source, target = folder / "texts.parquet", folder / "scored.parquet"
    inputs.make_file(source, size, length=8)

    def call():
        score_file(source, target, metrics=("length-ratio",), workers=2)
        target.unlink()

    return call


def _campaign(systems, *, items=100, judged=12):
    return inputs.large_campaign(systems, items, 1, judged)


def estimate(systems, _folder):
    from steelyard.study import Study

    outputs, judgments = _campaign(systems)
    return lambda: Study.read(outputs, judgments).estimate()


def ppi_each(systems, _folder):
    from ppi_py import ppi_mean_ci

    outputs, judgments = _campaign(systems)

    def call():
        """Estimate system by system with one metric, from tables as well."""
        key = ["item", "system"]
        known = judgments.join(outputs, on=key).partition_by("system", as_dict=True)
        rest = outputs.join(judgments, on=key, how="anti").partition_by("system", as_dict=True)
        for system, rows in known.items():
            pool = rest[system]["m0"].to_numpy() if system in rest else np.zeros(1)
            ppi_mean_ci(rows["score"].to_numpy(), rows["m0"].to_numpy(), pool, alpha=0.05)

    return call


def _shared(systems, *, items=50):
    return _campaign(systems, items=items, judged=items)


def compare(systems, _folder):
    from steelyard.study import Study

    outputs, judgments = _shared(systems)
    return lambda: Study.read(outputs, judgments).compare()


def paired_t(systems, _folder):
    from scipy.stats import ttest_rel

    _, judgments = _shared(systems)
    scores = judgments["score"].to_numpy().reshape(systems, -1)
    return lambda: [ttest_rel(a, b).pvalue for a, b in combinations(scores, 2)]


def crossed(judgments, _folder):
    from steelyard.single.crossed import crossed_components

    data = inputs.crossed_judgments(judgments, judgments // 2, max(judgments // 100, 10))
    return lambda: crossed_components(*data)


def mixed_model(judgments, _folder):
    import statsmodels.formula.api as smf
    from pandas import DataFrame

    human, output, rater = inputs.crossed_judgments(
        judgments, judgments // 2, max(judgments // 100, 10)
    )
    data = DataFrame({"y": human, "item": output, "rater": rater, "all": 1})
    parts = {"item": "0 + C(item)", "rater": "0 + C(rater)"}
    model = smf.mixedlm("y ~ 1", data, groups="all", re_formula="0", vc_formula=parts)
    return lambda: model.fit(reml=True)


class Fresh:
    """A job that gets new texts at every call, so that no cache answers; `most` calls can be made."""

    most = 2

    def __init__(self, pairs, use):
        from benchmarks.speed.metrics import pairs_of_texts

        rng = np.random.default_rng(55)
        self._use = use
        self._left = iter([pairs_of_texts(rng, pairs) for _ in range(self.most)])

    def __call__(self):
        return self._use(next(self._left))


def our_metric(number):
    def work(pairs, _folder):
        from benchmarks.speed.metrics import contests
        from steelyard.metrics import score

        metrics, _ = contests()[number]
        return Fresh(pairs, lambda texts: score(*texts, metrics=metrics))

    return work


def their_metric(number):
    def work(pairs, _folder):
        from benchmarks.speed.metrics import contests

        _, theirs = contests()[number]
        return Fresh(pairs, lambda texts: [theirs(*pair) for pair in zip(*texts, strict=True)])

    return work


ROWS = tuple(10**power for power in range(3, 8))
METRICS = (
    ("ROUGE-1, 2 and L", "rouge-score", 12_000),
    ("ROUGE-1, 2 and L, stemmed", "rouge-score", 12_000),
    ("BLEU", "sacrebleu", 12_000),
    ("chrF", "sacrebleu", 12_000),
    ("TER", "sacrebleu", 1_000),
    ("METEOR, words and stems", "nltk", 12_000),
)
CONTESTS = (
    Contest(
        "one system, arrays",
        "outputs in the pool",
        (*ROWS, 10**8),
        {US: control_variates, "ppi-python": ppi_mean},
        most=10**7,
    ),
    Contest(
        "Parquet pool, three metrics",
        "outputs",
        (*ROWS, 10**8),
        {US: parquet_pool(our_pool), "pandas": parquet_pool(pandas_pool)},
        most=10**7,
    ),
    Contest("score, Parquet", "rows", ROWS[:-1], {US: scored}),
    Contest(
        "estimate",
        "systems",
        (1, 10, 100, 1_000, 2_000),
        {US: estimate, "ppi-python, one by one": ppi_each},
    ),
    Contest("compare", "systems", (2, 10, 50), {US: compare, "scipy, paired t": paired_t}),
    Contest(
        "crossed components",
        "judgments",
        (400, 1_000, 10_000, 100_000),
        {US: crossed, "statsmodels": mixed_model},
        most=400,
    ),
    *(
        Contest(
            name,
            "pairs of 55 words",
            (few // 20, few),
            {US: our_metric(number), peer: their_metric(number)},
            most=few // 20,
        )
        for number, (name, peer, few) in enumerate(METRICS)
    ),
)
BY_NAME = {contest.name: contest for contest in CONTESTS}
