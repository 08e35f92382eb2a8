"""What ``steelyard judge`` says when it is done."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from steelyard.cli.judge_columns import JudgeColumn
from steelyard.cli.printing import print_json
from steelyard.judge import Judged
from steelyard.judge.forecast import Forecast
from steelyard.judge.pairs import ComparedPairs, OrderEffect

__all__ = ["Outcome", "exit_by_missing", "foreseen", "print_outcomes"]

# Exit code: the file is there, but some scores are not.
_SOME_MISSING = 3


@dataclass(frozen=True)
class Outcome:
    """What came of a column."""

    column: JudgeColumn
    judged: Judged
    pairs: ComparedPairs | None


def print_outcomes(
    outcomes: Sequence[Outcome], output: Path, *, n_outputs: int, score: str, as_json: bool
) -> None:
    """Print what came of all columns."""
    found = [_summary(one, n_outputs=n_outputs) for one in outcomes]
    if as_json:
        _print_json(found, score=score)
    else:
        click.echo("\n".join(_shown(one, output) for one in found))


def foreseen(
    forecasts: Sequence[tuple[JudgeColumn, Forecast]], *, score: str, as_json: bool
) -> None:
    """Print what would be asked."""
    found = [{**_named(column), "forecast": asdict(one)} for column, one in forecasts]
    if as_json:
        _print_json(found, score=score)
        return
    for one in found:
        click.echo(_shown_forecast(one["column"], one["forecast"]))
    click.echo("Nothing was asked. The same command without --dry-run asks.")


def _print_json(found: Sequence[dict[str, Any]], *, score: str) -> None:
    several = {"rubrics": list(found)} if len(found) > 1 else found[0]
    print_json({"score": score, **several}, None)


def _named(column: JudgeColumn) -> dict[str, Any]:
    return {"model": column.model, "rubric": column.rubric.name, "column": column.name}


def _shown_forecast(column: str, found: dict[str, Any]) -> str:
    from_cache = f"; {found['from_cache']:,} are in the cache" if found["from_cache"] else ""
    in_batches = ""
    if found["in_batches"]:
        in_batches = f"; {found['in_batches']:,} are in a batch that is not fetched yet"
    lines = [f"{column}: would ask {found['questions']:,} questions{from_cache}{in_batches}"]
    basis = "from the replies in the cache" if found["is_measured"] else "from four letters a token"
    tokens = f"tokens about {found['tokens_in']:,} in, {found['tokens_out']:,} out ({basis})"
    if found["most_tokens_out"] is not None:
        tokens += f"; out at most {found['most_tokens_out']:,}"
    if found["cost"] is not None:
        tokens += f"; cost about {found['cost']:.4f}"
    lines.append(tokens)
    if found["n_unaskable"]:
        lines.append(f"without a question: {found['n_unaskable']:,}, for want of a text to show")
    return "\n".join(lines)


def _summary(outcome: Outcome, *, n_outputs: int) -> dict[str, Any]:
    """Return what was asked, found and counted, as JSON knows it."""
    judged = outcome.judged
    usage, n_asked_about = judged.usage, len(judged.scores)
    mass = None
    if judged.mass is not None and judged.n_missing < n_asked_about:
        mass = {"mean": float(np.nanmean(judged.mass)), "least": float(np.nanmin(judged.mass))}
    whole = None
    if judged.cost is not None and n_asked_about < n_outputs and usage.asked and not outcome.pairs:
        # what is in the cache costs nothing, so only what was asked tells the price of one
        each = (usage.asked + usage.from_cache) / n_asked_about
        whole = judged.cost / usage.asked * each * n_outputs
    return {
        **_named(outcome.column),
        "n_outputs": n_outputs,
        "n_scored": n_asked_about - judged.n_missing,
        "n_missing": n_outputs - n_asked_about + judged.n_missing,
        "failures": judged.failures
        | ({"not asked": n_outputs - n_asked_about} if n_asked_about < n_outputs else {}),
        "asked": usage.asked,
        "from_cache": usage.from_cache,
        "requests": usage.requests,
        "batches": list(usage.batches),
        "tokens": {
            "in": usage.tokens_in,
            "out": usage.tokens_out,
            "uncounted_replies": usage.uncounted,
        },
        "cost": judged.cost,
        "cost_of_all": whole,
        "mass": mass,
        "averaged_over_fewer": judged.n_partly,
        "order": _order(outcome.pairs.order) if outcome.pairs is not None else None,
    }


def _order(effect: OrderEffect) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and np.isnan(value) else value
        for name, value in asdict(effect).items()
    }


def _shown(summary: dict[str, Any], output: Path) -> str:
    """Return a summary as lines."""
    tokens = summary["tokens"]
    scored = f"{summary['n_scored']:,} of {summary['n_outputs']:,} outputs"
    asked = f"asked {summary['asked']:,} questions in {summary['requests']:,} requests"
    if summary["batches"]:
        asked += f" ({', '.join(summary['batches'])})"
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
    if summary["averaged_over_fewer"]:
        lines.append(
            f"{summary['averaged_over_fewer']:,} scores are means of fewer samples than asked for"
        )
    if summary["order"] is not None:
        lines += _shown_order(summary["order"])
    lines += [f"without a score: {count:,} {kind}" for kind, count in summary["failures"].items()]
    if summary["n_missing"]:
        lines.append(
            "An estimate needs a score on every output: run the same command again (replies without "
            "a valid score are asked for anew with --retry-invalid), or fill the gaps by a rule that "
            "does not look at judgments, such as the mean score"
        )
    return "\n".join(lines)


def _shown_order(order: dict[str, Any]) -> list[str]:
    if not order["n_pairs"]:
        return ["order: no pair has a reply in both orders"]
    within = ""
    if order["low"] is not None:
        within = f" (95% interval {order['low']:.1%} to {order['high']:.1%})"
    changed = f"{order['n_changed']:,} of {order['n_pairs']:,} pairs"
    first = f"the output shown first gets {order['first_share']:.1%} of the preference{within}"
    return [f"order: {first}; this cancels. {changed} change with the order"]


def exit_by_missing(context: click.Context, outcomes: Sequence[Outcome]) -> None:
    """Say by the exit code whether scores are missing."""
    n_missing = sum(one.judged.n_missing for one in outcomes)
    n_asked = sum(len(one.judged.scores) for one in outcomes)
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
