"""What is to be said of the metrics of each system."""

from collections.abc import Sequence

from steelyard.tables import Outputs

__all__ = ["metric_notes"]


def metric_notes(
    outputs: Outputs, metrics: Sequence[str], systems: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return notes on each system's metrics.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    metrics : sequence of str
        The metrics that are used.
    systems : sequence of str
        The systems in question.
    """
    if not metrics:
        return {}
    gaps = outputs.metric_gaps(metrics)
    pools = outputs.pool_moments(metrics, gaps="fill")
    notes = {}
    for system in systems:
        size, own, pool = outputs.sizes[system], gaps.get(system, {}), pools[system]
        missing = [
            f"metric {name} is missing on {count} of {size} outputs: each counts as the mean of the others"
            if count < size
            else f"metric {name} is missing: this system is corrected by the others"
            for name, count in own.items()
        ]
        same = [
            f"metric {name} is the same on all outputs: it cannot correct this system"
            for name, constant in zip(metrics, pool.low == pool.high, strict=True)
            if constant and name not in own
        ]
        notes[system] = (*missing, *same)
    return notes
