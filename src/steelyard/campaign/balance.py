"""Whether the judged outputs look like their pool: what estimates take for granted."""

import numpy as np

from steelyard.campaign.chance import chance_bound, standard_errors_off
from steelyard.campaign.draws import is_designed
from steelyard.campaign.metric_checks import that_differ
from steelyard.errors import InvalidDataError
from steelyard.single.pool import PoolMoments
from steelyard.tables import Judgments, Outputs

__all__ = ["balance_notes"]

# Of a campaign whose outputs were drawn at random: at most this share gets a note. The bound behind
# it is about ten times too careful so far out in the tail, so that fewer than one in 1,000 does.
_FALSE_ALARMS = 0.01
# Standard errors below which nothing is looked at more closely.
_SUSPECT = 3.0
_KEY = ["item", "system"]


def balance_notes(outputs: Outputs, judgments: Judgments) -> dict[tuple[str, str], str]:
    """Say of which systems the judged outputs cannot be a simple random sample.

    The mean of every metric over the judged outputs is compared with that over the pool, with
    allowance for the number of metrics, systems and prompts (Bonferroni).

    Parameters
    ----------
    outputs : Outputs
        The pool of every system. Metrics that some output lacks are left out.
    judgments : Judgments
        The judgments.

    Returns
    -------
    dict
        A note by prompt and system; those that look like their pool are not there. Empty for draws
        by strata, with unequal probabilities or of clusters, which are not meant to look like the pool.

    Examples
    --------
    >>> import polars as pl
    >>> from steelyard.tables import read_judgments, read_outputs
    >>> pool = pl.DataFrame({"item": range(100), "system": "s", "length": range(100)})
    >>> longest = {"item": range(60, 100), "system": "s", "rater": "r", "prompt": "p", "score": 1}
    >>> notes = balance_notes(read_outputs(pool), read_judgments(pl.DataFrame(longest)))
    >>> notes["p", "s"][:79]
    'the judged outputs are not a random sample of the pool: their mean length is 79'
    """
    in_clusters = "cluster" in {*outputs.columns, *judgments.frame.columns}
    if not outputs.metrics or in_clusters or is_designed(judgments):
        return {}
    metrics, pools = _pools(outputs)
    if not metrics:
        return {}
    values = outputs.rows_of(judgments, columns=list(metrics)).select(*_KEY, *metrics)
    judged = judgments.frame.select("prompt", *_KEY).unique(maintain_order=True)
    cells = judged.join(values, on=_KEY, how="left").partition_by(
        "prompt", "system", as_dict=True, maintain_order=True
    )
    allowed = _FALSE_ALARMS / (len(cells) * len(metrics))
    notes = {}
    for (prompt, system), rows in cells.items():
        judged_values = rows.select(metrics).to_numpy()
        z = standard_errors_off(judged_values, pools[system])
        off = {}
        suspect = np.abs(z) >= _SUSPECT
        if suspect.any() and rows.height < pools[system].size:
            # What is one value wherever nobody judged came with the judgments: it says nothing of the draw.
            suspect &= ~np.isfinite(that_differ(judged_values, pools[system]))
        for place in np.flatnonzero(suspect):
            name = metrics[place]
            pool = outputs.pool_values(system, [name])[:, 0]
            if (chance := chance_bound(rows[name].to_numpy(), pool)) <= allowed:
                off[place] = chance
        if off:
            worst = min(off, key=lambda place: off[place])
            name = metrics[worst]
            means = float(np.mean(rows[name].to_numpy())), float(pools[system].mean[worst])
            notes[prompt, system] = _note(name, means, z[worst], len(off) - 1)
    return notes


def _pools(outputs: Outputs) -> tuple[tuple[str, ...], dict[str, PoolMoments]]:
    """Return the metrics that every output has, and their moments in each system's pool."""
    try:
        return outputs.metrics, outputs.pool_moments()
    except InvalidDataError:
        whole = tuple(name for name in outputs.metrics if _is_whole(outputs, name))
        return whole, outputs.pool_moments(whole) if whole else {}


def _is_whole(outputs: Outputs, metric: str) -> bool:
    try:
        outputs.pool_moments([metric])
    except InvalidDataError:
        return False
    return True


def _note(metric: str, means: tuple[float, float], z: float, more: int) -> str:
    others = f"; {more} more metrics are off too" if more else ""
    return (
        f"the judged outputs are not a random sample of the pool: their mean {metric} is "
        f"{means[0]:.4g}, the pool's {means[1]:.4g}, {abs(z):.1f} standard errors away{others}. "
        "No interval holds for outputs that were chosen: judge a sample that was drawn at random "
        "(steelyard sample)"
    )
