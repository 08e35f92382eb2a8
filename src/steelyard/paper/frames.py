"""The numbers as data frames, for files that other programs read."""

from collections.abc import Iterator, Sequence

import polars as pl

from steelyard.paper.blocks import PaperClaim
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.setting import Setting
from steelyard.single.interval import Interval

__all__ = ["frames"]

# Every so many judgments of a trajectory are written.
_STEP = 10


def frames(found: Reproduction, claims: list[PaperClaim]) -> dict[str, pl.DataFrame]:
    """Return all tables by name, with full precision.

    Parameters
    ----------
    found : Reproduction
        What came out.
    claims : list of PaperClaim
        Verdicts.
    """
    tables: dict[str, Sequence[object]] = {
        "claims": [
            {name: " ".join(text.split()) for name, text in vars(claim).items()} for claim in claims
        ],
        "variances": list(_variances(found)),
        "correlations": list(_correlations(found)),
        "bias-study": list(_bias(found)),
        "fresh-gains": [vars(one) for one in found.fresh],
        "modes": list(_modes(found)),
        "data-efficiencies": list(_efficiencies(found)),
        "trajectories": list(_lengths(found)),
        "released-differences": [vars(one) for one in found.differences],
    }
    return {
        name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in tables.items() if rows
    }


def _setting(one: Setting) -> dict[str, object]:
    return dict(zip(("task", "prompt", "system", "metric"), one.key, strict=True))


def _quantity(name: str, found: Interval | None) -> dict[str, float | None]:
    if found is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _variances(found: Reproduction) -> Iterator[dict[str, object]]:
    for row in found.variances:
        yield {
            "task": row.task,
            "prompt": row.prompt,
            "system": row.system,
            "rater_printed": row.printed and row.printed.rater,
            "item_printed": row.printed and row.printed.item,
            "noise_ratio_printed": row.printed and row.printed.noise_ratio,
            "rater_released": row.released and row.released.rater,
            "item_released": row.released and row.released.item,
            "noise_ratio_released": row.released and row.released.noise_ratio,
            "rater": row.reproduced.rater,
            "variance_of_means": row.reproduced.variance_of_means,
            "noise_ratio": row.reproduced.noise_ratio,
            **_quantity("item_unbiased", row.unbiased.item),
            **_quantity("noise_ratio_unbiased", row.unbiased.noise_ratio),
        }


def _correlations(found: Reproduction) -> Iterator[dict[str, object]]:
    for row in found.correlations:
        yield {
            **_setting(row),
            "released": row.released,
            "reproduced": row.reproduced,
            **_quantity("unbiased", row.unbiased),
            **_quantity("data_efficiency", row.data_efficiency),
        }


def _bias(found: Reproduction) -> Iterator[dict[str, object]]:
    for row in found.bias:
        yield {
            "task": row.task,
            "system": row.system,
            "condition": row.condition,
            "replaced": row.replaced,
            "outputs": row.outputs,
            **_quantity("human", row.human),
            **_quantity("human_released", row.released_human),
            **_quantity("metric", row.metric),
            **_quantity("metric_released", row.released_metric),
            "human_at_random": row.at_random[0],
            "metric_at_random": row.at_random[1],
        }


def _modes(found: Reproduction) -> Iterator[dict[str, object]]:
    names = ("good_high", "bad_high", "good_low", "bad_low")
    for one in found.modes:
        for kind, counts in (
            ("printed", one.printed.counts),
            ("counted", one.counts),
            ("ties as bad", one.strict),
        ):
            if counts is not None:
                yield {
                    "task": one.printed.task,
                    "kind": kind,
                    **dict(zip(names, counts, strict=True)),
                }


def _efficiencies(found: Reproduction) -> Iterator[dict[str, object]]:
    for one in found.followed:
        limits = found.limits_of(one)
        row = _setting(one)
        for name, released in (
            ("corrected", one.released),
            ("noiseless_raters", one.released_noiseless),
            ("perfect_metric", one.released_perfect),
        ):
            curve = getattr(one.trajectory, name)
            row |= {
                f"{name}_released_length_ratio": released,
                f"{name}_released": None if released is None else released**2,
                f"{name}_length_ratio": curve.length_ratio,
                name: curve.data_efficiency,
                f"{name}_monte_carlo_error": curve.monte_carlo_error,
            }
        yield (
            row
            | _quantity("noiseless_raters_unbiased", limits.noiseless_raters)
            | _quantity("perfect_metric_unbiased", limits.perfect_metric)
        )


def _lengths(found: Reproduction) -> Iterator[dict[str, object]]:
    for one in found.followed:
        curves = one.trajectory
        for place in range(_STEP - 1, len(curves.judgments), _STEP):
            yield {
                **_setting(one),
                "judgments": int(curves.judgments[place]),
                "plain": curves.plain.length[place],
                "corrected": curves.corrected.length[place],
                "noiseless_raters": curves.noiseless_raters.length[place],
                "perfect_metric": curves.perfect_metric.length[place],
            }
