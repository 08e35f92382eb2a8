"""``steelyard monitor``."""

from pathlib import Path
from typing import get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import StudyChoice, level_option, output_options, study_arguments
from steelyard.cli.paths import InputPath, OutputFile
from steelyard.cli.printing import interval, note_lines, parse_bounds, print_result
from steelyard.cli.race import RaceGoalType, race_tables
from steelyard.design.race import RaceGoal, RaceMethod
from steelyard.design.sequence import Method, SequenceTarget
from steelyard.errors import InvalidArgumentError
from steelyard.study.monitoring import Monitored
from steelyard.tables import read_outputs

__all__ = ["monitor"]

_EXAMPLE = """\b
Example:
  steelyard monitor outputs.jsonl judgments.jsonl --half-width 0.05 --metric rouge-l
  steelyard monitor outputs.jsonl judgments.jsonl --goal best --margin 0.02
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "--half-width",
    type=float,
    help="Half-width of the interval to reach; choose it before looking.",
)
@click.option(
    "--goal",
    type=RaceGoalType(),
    metavar="best|order|difference=D",
    help="Instead of a half-width: which system is best; the order of all; of every pair which is "
    "better, or that they differ by at most D. Systems that need no more judgments are let go.",
)
@click.option(
    "--margin",
    type=float,
    help="With the goal best: also stop when one system is known to be at most so far below the best.",
)
@click.option(
    "--judgment-price",
    type=float,
    help="With a goal: price of a judgment, to say what is left to pay.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Column of OUTPUTS to correct with, or with a goal to foretell differences; may be given several times. "
    "None by default.",
)
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="betting",
    show_default=True,
    help="betting and empirical-bernstein hold exactly, asymptotic approximately.",
)
@click.option(
    "--bounds",
    metavar="LOW,HIGH",
    default="0,1",
    show_default=True,
    help="Least and greatest possible score.",
)
@click.option(
    "--replacement/--no-replacement",
    default=False,
    show_default=True,
    help="Whether outputs are drawn with replacement, or judged in a random order.",
)
@click.option(
    "--target",
    type=click.Choice(get_args(SequenceTarget)),
    help="census: the mean if every output were judged by this very process; pool: by infinitely "
    "many raters, with allowance for noise. By default census, with replacement pool.",
)
@click.option("--rater-variance", type=float, help="Variance of judgments of one output.")
@click.option(
    "--judgments-per-output",
    type=int,
    default=1,
    show_default=True,
    help="Judgments after which an output is complete; its score is their mean.",
)
@click.option(
    "--tuned-for",
    type=int,
    help="Judged outputs at which the asymptotic sequence is tightest; by default those at which "
    "the half-width is reached.",
)
@click.option(
    "--sample",
    type=InputPath(),
    help="What `steelyard sample` wrote, when JUDGMENTS lack its columns.",
)
@level_option
@click.option(
    "--figure",
    type=OutputFile(),
    help="Also draw the path to this file (.svg, .pdf or .png).",
)
@output_options
def monitor(
    choice: StudyChoice,
    *,
    half_width: float | None,
    goal: tuple[RaceGoal, float | None] | None,
    margin: float | None,
    judgment_price: float | None,
    metrics: tuple[str, ...],
    method: Method,
    bounds: str,
    replacement: bool,
    target: SequenceTarget | None,
    rater_variance: float | None,
    judgments_per_output: int,
    tuned_for: int | None,
    sample: Path | None,
    level: float,
    figure: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Tell whether collection may stop, as often as you like.

    Gives intervals that hold at all times at once, so that looking after every judgment spoils
    nothing. Outputs are taken in the order of the draw (column draw) up to the first that is not
    back; if the draw is not recorded, in the order of collection (column time, or the file).

    With --goal all systems run a race on the same items: who is out, and by whom, who is in, what
    is known, and how many more judgments that takes.
    """
    drawn = None if sample is None else read_outputs(sample).rows()
    if goal is not None:
        _check_race_options()
        word, difference = goal
        if difference is not None and margin is not None:
            raise InvalidArgumentError("`--margin` does not go with --goal difference=D: D is it")
        races = choice.read(metrics).race(
            word,
            metrics=metrics,
            margin=margin if difference is None else difference,
            prompts=choice.prompts,
            systems=choice.systems,
            method=_race_method(method),
            level=level,
            bounds=None if bounds == "none" else parse_bounds(bounds),
            judgments_per_output=judgments_per_output,
            judgment_price=judgment_price,
            sample=drawn,
        )
        print_result(races.to_dict(), race_tables(races), as_json=as_json, output=output)
        return
    if half_width is None:
        raise InvalidArgumentError(
            "`--half-width` or `--goal` is needed: the half-width of every interval to reach, or "
            "what is to be decided"
        )
    _refuse_without_goal(margin, judgment_price)
    found = choice.read(metrics).monitor(
        metrics,
        half_width=half_width,
        prompts=choice.prompts,
        systems=choice.systems,
        method=method,
        level=level,
        bounds=parse_bounds(bounds),
        replacement=replacement,
        target=target,
        rater_variance=rater_variance,
        judgments_per_output=judgments_per_output,
        tuned_for=tuned_for,
        sample=drawn,
    )
    if figure is not None:
        # matplotlib is slow to load
        from steelyard.report.files import save_figure  # noqa: PLC0415
        from steelyard.report.monitor import path_plot  # noqa: PLC0415

        save_figure(path_plot(found), figure)
    print_result(found.to_dict(), _tables(found), as_json=as_json, output=output)


# Options of the interval of one system, which a race has none of.
_NOT_IN_RACES = ("half_width", "replacement", "target", "rater_variance", "tuned_for")


def _check_race_options() -> None:
    context = click.get_current_context()
    given = click.core.ParameterSource.COMMANDLINE
    for name in (*_NOT_IN_RACES, "figure"):
        if context.get_parameter_source(name) is given:
            option = name.replace("_", "-")
            raise InvalidArgumentError(
                f"`--{option}` does not go with --goal, which compares systems by their scores on "
                "the same items: leave one of them out"
            )
    if context.params["method"] == "empirical-bernstein":
        raise InvalidArgumentError(
            "`--method` must be betting or asymptotic with --goal; got empirical-bernstein"
        )


def _race_method(method: Method) -> RaceMethod | None:
    """Return the method asked for; None leaves it to whether bounds are known."""
    source = click.get_current_context().get_parameter_source("method")
    if source is click.core.ParameterSource.DEFAULT:
        return None
    return "asymptotic" if method == "asymptotic" else "betting"


def _refuse_without_goal(margin: float | None, judgment_price: float | None) -> None:
    for name, value in (("margin", margin), ("judgment-price", judgment_price)):
        if value is not None:
            raise InvalidArgumentError(f"`--{name}` goes with --goal only")


def _tables(found: list[Monitored]) -> list[RenderableType]:
    first = found[0]
    table = Table(title=f"Half-width {first.goal:g} to reach", title_justify="left")
    for name in ("prompt", "system", ""):
        table.add_column(name)
    table.add_column("estimate", justify="right")
    table.add_column(f"{first.level:.0%}, at all times")
    for name in ("half-width", "judged", "expected more"):
        table.add_column(name, justify="right")
    for one in found:
        table.add_row(
            one.prompt,
            one.system,
            "all judged" if one.exact else "stop" if one.stop else "go on",
            "" if one.estimate is None else f"{one.estimate:.3f}",
            "known exactly" if one.exact else interval(one.low, one.high),
            "" if one.exact else f"{one.half_width:.3f}",
            f"{one.n} of {one.pool_size}",
            "?" if one.expected_more is None else str(one.expected_more),
        )
    using = f"metrics {', '.join(first.metrics)}; " if first.metrics else ""
    notes = note_lines((one.system, one.prompt, note) for one in found for note in one.notes)
    return [table, f"{using}{first.method}; target {first.target}", *notes]
