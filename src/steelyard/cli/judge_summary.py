"""What ``steelyard judge`` says when it is done."""

from pathlib import Path
from typing import Any

import click
import numpy as np

from steelyard.judge import Judged

__all__ = ["exit_by_missing", "shown", "summary"]

# Exit code: the file is there, but some scores are not.
_SOME_MISSING = 3


def summary(judged: Judged, column: str, *, n_outputs: int) -> dict[str, Any]:
    """Return what was asked, found and counted, as JSON knows it."""
    usage, n_asked_about = judged.usage, len(judged.scores)
    mass = None
    if judged.mass is not None and judged.n_missing < n_asked_about:
        mass = {"mean": float(np.nanmean(judged.mass)), "least": float(np.nanmin(judged.mass))}
    whole = None
    if judged.cost is not None and n_asked_about < n_outputs and usage.asked:
        # what is in the cache costs nothing, so only what was asked tells the price of one
        whole = judged.cost / usage.asked * n_outputs
    return {
        "column": column,
        "n_outputs": n_outputs,
        "n_scored": n_asked_about - judged.n_missing,
        "n_missing": n_outputs - n_asked_about + judged.n_missing,
        "failures": judged.failures
        | ({"not asked": n_outputs - n_asked_about} if n_asked_about < n_outputs else {}),
        "asked": usage.asked,
        "from_cache": usage.from_cache,
        "requests": usage.requests,
        "tokens": {
            "in": usage.tokens_in,
            "out": usage.tokens_out,
            "uncounted_replies": usage.uncounted,
        },
        "cost": judged.cost,
        "cost_of_all": whole,
        "mass": mass,
    }


def shown(summary: dict[str, Any], output: Path) -> str:
    """Return a summary as lines."""
    tokens = summary["tokens"]
    scored = f"{summary['n_scored']:,} of {summary['n_outputs']:,} outputs"
    asked = f"asked {summary['asked']:,} questions in {summary['requests']:,} requests"
    lines = [
        f"{output}: {summary['column']} for {scored}",
        f"{asked}; {summary['from_cache']:,} from the cache",
    ]
    count = f"tokens {tokens['in']:,} in, {tokens['out']:,} out"
    if tokens["uncounted_replies"]:
        count += f" ({tokens['uncounted_replies']:,} replies came without a count)"
    if summary["cost"] is not None:
        count += f"; cost {summary['cost']:.4f}"
    if summary["cost_of_all"] is not None:
        count += f"; all outputs would cost about {summary['cost_of_all']:.2f}"
    lines.append(count)
    if summary["mass"] is not None:
        mass = summary["mass"]
        lines.append(
            f"probability on the scale: {mass['mean']:.3f} on average, {mass['least']:.3f} at least"
        )
    lines += [f"without a score: {count:,} {kind}" for kind, count in summary["failures"].items()]
    if summary["n_missing"]:
        lines.append(
            "An estimate needs a score on every output: run the same command again (replies without "
            "a valid score are asked for anew with --retry-invalid), or fill the gaps by a rule that "
            "does not look at judgments, such as the mean score"
        )
    return "\n".join(lines)


def exit_by_missing(context: click.Context, n_missing: int, n_asked: int) -> None:
    """Say by the exit code whether scores are missing."""
    if n_missing == n_asked:
        click.echo("steelyard: no output has a score; the reasons stand in the file", err=True)
        context.exit(1)
    if n_missing:
        click.echo(
            f"steelyard: {n_missing:,} of {n_asked:,} scores are missing; the reasons stand in the "
            "file",
            err=True,
        )
        context.exit(_SOME_MISSING)
