"""``steelyard simulate``."""

from pathlib import Path
from typing import Any, get_args

import click

from steelyard.cli.options import (
    StudyChoice,
    level_option,
    output_options,
    seed_option,
    study_arguments,
    two_systems,
)
from steelyard.cli.printing import parse_bounds, print_result, progress_bar
from steelyard.cli.race import RaceGoalType
from steelyard.cli.race_replay import race_options, race_replay_tables
from steelyard.cli.simulate_tables import mean_tables, pair_tables, rule_tables
from steelyard.design.race import RaceGoal
from steelyard.errors import InvalidArgumentError
from steelyard.study import Study
from steelyard.study.mean_replay import ReplayDesign
from steelyard.study.simulation import Rule

__all__ = ["simulate"]

_EXAMPLE = """\b
Examples:
  steelyard simulate outputs.jsonl judgments.jsonl --prompt overall -n 50 -n 100
  steelyard simulate outputs.jsonl judgments.jsonl --prompt overall --metric rouge-l \\
      --half-width 0.1 --bounds -1,1
  steelyard simulate outputs.jsonl judgments.jsonl --prompt overall --pair new old -n 50 -n 100
  steelyard simulate outputs.jsonl judgments.jsonl --prompt overall --goal best --margin 0.02
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Metric to correct with; all by default, but with --half-width those that are named, and with --goal too.",
)
@click.option(
    "--half-width",
    type=float,
    help="The precision to reach, by each rule; with -n: how often is it reached?",
)
@click.option(
    "--bounds",
    metavar="LOW,HIGH",
    help="With --half-width or --goal: least and greatest score; a race has 0,1 by default, and none "
    "where there are no bounds.",
)
@click.option(
    "--goal",
    type=RaceGoalType(),
    metavar="best|order|difference=D",
    help="Replay a race, as `steelyard monitor --goal` runs it.",
)
@click.option(
    "--pair",
    nargs=2,
    callback=two_systems,
    metavar="A B",
    help="Replay the comparison of two systems.",
)
@click.option(
    "-n",
    "numbers",
    multiple=True,
    type=int,
    help="Outputs to judge of each system; with --pair 20, 50, 100 and 200 by default.",
)
@click.option(
    "--margin",
    type=float,
    help="With --pair: differences that count as equivalent; with --goal best: it also ends when one "
    "system is at most so far below the best.",
)
@click.option(
    "--design",
    type=click.Choice(get_args(ReplayDesign)),
    help="With -n: how outputs are drawn.  [default: simple]",
)
@click.option(
    "--by",
    multiple=True,
    metavar="METRIC",
    help="With --design spread: metric to spread by; what all have in common by default.",
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    type=click.Choice(get_args(Rule)),
    help="With --half-width: rule to replay; all by default. With --goal: betting or asymptotic; by "
    "default the former where there are bounds.",
)
@click.option("--strata", type=int, help="For the plan's sample.  [default: 1]")
@click.option(
    "--size",
    help="Column of OUTPUTS that the plan's sample is drawn in proportion to, such as the metric's "
    "expected error.",
)
@click.option("--look", type=int, help="Judgments between looks at a sequence.  [default: 10]")
@click.option("--runs", type=int, default=200, show_default=True, help="Number of replays.")
@level_option
@seed_option("Seed of the replays.")
@output_options
def simulate(
    choice: StudyChoice,
    *,
    metrics: tuple[str, ...],
    half_width: float | None,
    bounds: str | None,
    goal: tuple[RaceGoal, float | None] | None,
    pair: tuple[str, str] | None,
    numbers: tuple[int, ...],
    margin: float | None,
    design: ReplayDesign | None,
    by: tuple[str, ...],
    rules: tuple[Rule, ...],
    strata: int | None,
    size: str | None,
    look: int | None,
    runs: int,
    level: float,
    seed: int,
    as_json: bool,
    output: Path | None,
) -> None:
    """Replay a finished campaign, to see what fewer judgments would have shown.

    With -n, so many outputs of each system are judged, the same items for all, with one judgment of
    each text: how far off the means are that `steelyard estimate` shows, how long its intervals are and how
    often they hold the truth, beside plain means. --design spread draws outputs that lie evenly along
    the metrics.

    With --half-width, outputs come until the interval is that narrow: a plan judges a number fixed in
    advance, a confidence sequence stops when it is narrow enough. Each with the metric and without.

    With --pair, the comparison of two systems is replayed: how far off the difference is, how often its
    interval holds the truth, and how often there is a verdict, by `steelyard compare` on the same items
    and by plain means of independent items.

    With --goal, all systems run a race on the same items: how soon it is decided, who wins how often, and how
    many judgments that takes beside a fixed number of items that decides as often.
    """
    named = tuple(dict.fromkeys(metrics))
    of_rules: dict[str, object] = {"half-width": half_width, "bounds": bounds, "rule": rules}
    of_rules |= {"strata": strata, "size": size, "look": look}
    of_draws: dict[str, object] = {"design": design, "by": by}
    if goal is not None:
        others = of_rules | of_draws | {"bounds": None, "rule": None}
        others |= {"pair": pair, "n": numbers}
        _refuse(others, "`--goal`, which replays a race")
    elif pair is not None:
        _refuse(of_rules | of_draws, "`--pair`, which replays numbers of items (-n)")
    elif numbers:
        others = of_rules | {"margin": margin, "half-width": None}
        _refuse(others, "`-n`, which replays numbers of outputs")
    elif half_width is None or bounds is None or not named:
        raise InvalidArgumentError(
            "a replay needs numbers of outputs (`-n 50 -n 100`), or `--metric`, `--half-width` and "
            "`--bounds`, or `--pair A B`, or `--goal best`"
        )
    else:
        _refuse(of_draws | {"margin": margin}, "`--half-width`")
    study = choice.read([*named, *([] if size is None else [size])])
    options: dict[str, Any] = {"prompt": _only_prompt(choice, study), "runs": runs, "level": level}
    with progress_bar("replaying") as show:
        options |= {"seed": seed, "progress": show}
        if goal is not None:
            options |= {"systems": choice.systems, "metrics": named}
            options |= race_options(goal, margin, bounds, rules)
            raced = study.simulate_race(**options)
            shown, tables = raced.to_dict(), race_replay_tables(raced)
        elif pair is not None:
            options |= {"metrics": named or None, "margin": margin}
            compared = study.simulate_pair(pair, numbers or None, **options)
            shown, tables = compared.to_dict(), pair_tables(compared, level)
        elif numbers:
            options |= {"metrics": named or None, "systems": choice.systems, "by": by}
            options |= {"design": design or "simple", "half_width": half_width}
            drawn = study.simulate_means(numbers, **options)
            shown, tables = drawn.to_dict(), mean_tables(drawn, half_width, level)
        else:
            options |= {"half_width": half_width, "bounds": parse_bounds(str(bounds))}
            options |= {"systems": choice.systems, "rules": rules or get_args(Rule), "size": size}
            options |= {
                "strata": 1 if strata is None else strata,
                "look": 10 if look is None else look,
            }
            found = study.simulate(named, **options)
            shown, tables = found.to_dict(), rule_tables(found, options["half_width"], level)
    print_result(shown, tables, as_json=as_json, output=output)


def _refuse(others: dict[str, object], kind: str) -> None:
    """Raise if an option was given that does not go with this kind of replay."""
    for name, value in others.items():
        if value not in (None, ()):
            option = f"-{name}" if len(name) == 1 else f"--{name}"
            raise InvalidArgumentError(f"`{option}` does not go with {kind}")


def _only_prompt(choice: StudyChoice, study: Study) -> str | None:
    prompts = choice.prompts or (None,)
    if len(prompts) != 1:
        raise InvalidArgumentError(
            f"`--prompt` must be one of {', '.join(study.prompts)}: a replay is of one"
        )
    return prompts[0]
