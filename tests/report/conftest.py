from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest

from steelyard.questions.about import About, Raters
from steelyard.questions.estimates import Baseline, Estimate
from steelyard.study import Study


def _study(
    systems: Sequence[str] = ("alpha", "beta", "gamma"),
    *,
    prompts: Sequence[str] = ("overall",),
    metrics: Sequence[str] = ("good", "poor"),
    constant: Sequence[str] = (),
    judgments: int = 2,
    raters: int = 6,
    pool: int = 24,
    judged: int = 14,
    score: float | None = None,
) -> Study:
    """Return a small seeded study: a system's mean human score falls with its place."""
    rng = np.random.default_rng(2018)
    outputs, rows = [], []
    for place, system in enumerate(systems):
        quality = rng.normal(-0.4 * place, 1, size=pool)
        columns = {
            name: np.ones(pool) if system in constant else quality / (1 + j) + rng.normal(size=pool)
            for j, name in enumerate(metrics)
        }
        outputs += [
            {"item": i, "system": system, "output": f"{system} {i}"}
            | {name: x[i] for name, x in columns.items()}
            for i in range(pool)
        ]
        for item in rng.choice(pool, judged, replace=False).tolist():
            for rater in rng.choice(raters, judgments, replace=False).tolist():
                for prompt in prompts:
                    drawn = round(3 + quality[item] + rng.normal(scale=0.7))
                    rows.append(
                        {
                            "item": item,
                            "system": system,
                            "rater": f"r{rater}",
                            "prompt": prompt,
                            "score": min(max(drawn, 1), 5) if score is None else score,
                        }
                    )
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(rows))


def _estimate(
    system: str,
    value: float,
    width: float = 0.1,
    *,
    pool_size: int = 100,
    raters: Raters = "fixed",
    metrics: tuple[str, ...] = ("m",),
) -> Estimate:
    """Return an estimate with its plain mean."""
    plain = 1.2 * width
    return Estimate(
        system=system,
        prompt="p",
        estimate=value,
        standard_error=width / 2,
        low=value - width,
        high=value + width,
        level=0.95,
        about=About.of("pool", raters, pool_size=pool_size),
        n_outputs=20,
        n_judgments=40,
        n_raters=4,
        pool_size=pool_size,
        data_efficiency=1.44,
        baseline=Baseline(
            estimate=value, standard_error=plain / 2, low=value - plain, high=value + plain
        ),
        metrics=metrics,
        degrees_of_freedom=18.0,
    )


@pytest.fixture(scope="session")
def make_study() -> Callable[..., Study]:
    return _study


@pytest.fixture(scope="session")
def make_estimate() -> Callable[..., Estimate]:
    return _estimate


@pytest.fixture(scope="session")
def study() -> Study:
    return _study(prompts=("overall", "fluent"))
