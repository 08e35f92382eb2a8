"""Replays of a finished campaign: what a plan or a stopping rule would have cost, and been worth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from steelyard.campaign.score_bounds import check_bounds
from steelyard.errors import InvalidArgumentError
from steelyard.records import names_of
from steelyard.results import Results
from steelyard.study.finished import FinishedCampaign, Outcome, Rule
from steelyard.study.judged import judged_table
from steelyard.study.recorded_draw import check_simply_drawn

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["Replay", "Rule", "simulate"]

_COLUMNS = (
    *("system", "prompt", "rule", "metrics", "judgments", "most_judgments", "reached"),
    *("half_width", "error", "coverage", "pool_size"),
)


@dataclass(frozen=True, kw_only=True)
class Replay:
    """What one rule did over many replays of one system's campaign.

    Attributes
    ----------
    system, prompt : str
        Whose campaign.
    rule : str
        "plan" (a number fixed in advance), or the confidence sequence that stopped it.
    metrics : tuple of str
        Metrics corrected with; empty for judgments alone.
    strata : int
        Strata of the metric that outputs were drawn from; 1 for simple random draws.
    size : str or None
        Column that outputs were drawn in proportion to.
    judgments, most_judgments : float
        Mean number of judgments, and that of the longest tenth of replays.
    reached : float
        Share of replays in which the goal was reached before the pool was used up.
    half_width : float
        Mean half-width at the end.
    error : float
        Root mean squared error of the estimate: of a plan about the mean human score, of a sequence
        about the mean of the judgments drawn.
    coverage : float
        Share of replays whose interval held the truth: at the end for a plan, at every moment for
        a sequence.
    pool_size : int
        Outputs in the pool.
    runs : int
        Number of replays.
    """

    system: str
    prompt: str
    rule: str
    metrics: tuple[str, ...]
    strata: int
    judgments: float
    most_judgments: float
    reached: float
    half_width: float
    error: float
    coverage: float
    pool_size: int
    runs: int
    size: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {**vars(self), "metrics": list(self.metrics)}

    def __repr__(self) -> str:
        used = ", ".join(self.metrics) or "no metric"
        return (
            f"<Replay {self.system}, prompt {self.prompt}, {self.rule}, {used}: "
            f"{self.judgments:.0f} judgments, coverage {self.coverage:.0%} of {self.runs}>"
        )

    def _repr_html_(self) -> str:
        return Results([self], columns=_COLUMNS)._repr_html_()


def simulate(
    study: "Study",
    metrics: Sequence[str],
    *,
    half_width: float,
    bounds: tuple[float, float],
    prompt: str | None = None,
    rules: Sequence[Rule] = get_args(Rule),
    systems: Sequence[str] | None = None,
    strata: int = 1,
    size: str | None = None,
    look: int = 10,
    runs: int = 200,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Results[Replay]:
    """Replay a finished campaign under each rule, with the metrics and without.

    A replay makes a pool of the real size from the judged outputs, each as often as needed, puts it
    in a random order and draws one judgment of each output. "plan" judges
    the number of outputs that `plan` asks for with assurance, and estimates each system on its own as `estimate`
    does by default, with the campaign's rater variance passed on; the others stop when their confidence sequence is narrow enough. The truth of
    a plan is the pool's mean human score, which the mean of all judgments tells but for rater noise:
    each replay draws it anew, as far from that mean as this noise may put it. The truth of a
    sequence, which speaks about a census, is the mean of the judgments drawn.

    Parameters
    ----------
    study : Study
        The finished campaign; what was judged stands for all outputs of the pool.
    metrics : sequence of str
        Metrics to correct with.
    half_width : float
        The precision to reach.
    bounds : (float, float)
        Least and greatest possible judgment.
    prompt : str, optional
        The prompt, to which bounds and goal belong; needed when several were judged.
    rules : sequence of str
        Which rules to replay.
    systems : sequence of str, optional
        Which systems; all that were judged by default.
    strata : int
        Quantiles of the first metric that a plan's sample is stratified by; 1 for none.
    size : str, optional
        Column of positive numbers, such as the metric's expected error, that a plan's sample is drawn
        in proportion to when it uses the metrics. Not with `strata`.
    look : int
        Judgments between two looks at a sequence.
    runs : int
        Number of replays.
    level : float
        Level of intervals and sequences.
    seed : int
        Seed; every rule replays the same draws.
    progress : callable, optional
        Called with the number of replays made and that of all.

    Returns
    -------
    Results of Replay
        One for each system, rule, and with and without the metrics.
    """
    _check(rules, half_width=half_width, runs=runs, strata=strata, look=look)
    if size is not None and strata > 1:
        raise InvalidArgumentError(
            f"`size` and `strata` are two ways to draw; got size {size!r} and {strata} strata: "
            "replay one after the other"
        )
    metrics, prompt = names_of(metrics), study.only_prompt(prompt)
    chosen = list(study.systems if systems is None else names_of(systems))
    study.check_judged([prompt], chosen)
    check_bounds(study.judgments, bounds, prompts=[prompt], systems=chosen)
    check_simply_drawn(study.judgments, [prompt], chosen)
    columns = [*metrics, *([] if size is None else [size])]
    table = judged_table(study.outputs, study.judgments, columns)
    found: list[Replay] = []
    total = 2 * len(rules) * len(chosen) * runs

    def told(run: int) -> None:
        if progress is not None and (run % 10 == 0 or run == runs):
            progress(len(found) * runs + run, total)

    for system in chosen:
        sample = table.cell(prompt, system).sample()
        sizes = None if size is None else sample.metric[:, -1]
        campaign = FinishedCampaign.of(
            replace(sample, metric=sample.metric[:, : len(metrics)]),
            study.outputs.sizes[system],
            half_width=half_width,
            bounds=bounds,
            level=level,
            look=look,
            sizes=sizes,
        )
        for used in (True, False):
            for rule in rules:
                outcomes = campaign.outcomes(
                    rule, with_metric=used, strata=strata, runs=runs, seed=seed, progress=told
                )
                names = tuple(metrics) if used else ()
                layers = strata if rule == "plan" and used else 1
                found.append(
                    _summary(
                        outcomes,
                        campaign.size,
                        system=system,
                        prompt=prompt,
                        rule=rule,
                        metrics=names,
                        strata=layers,
                        size=size if rule == "plan" and used else None,
                    )
                )
    return Results(found, columns=_COLUMNS)


def _summary(outcomes: list[Outcome], pool_size: int, **names: Any) -> Replay:
    judgments = np.array([one.judgments for one in outcomes])
    return Replay(
        **names,
        judgments=float(judgments.mean()),
        most_judgments=float(np.quantile(judgments, 0.9)),
        reached=float(np.mean([one.reached for one in outcomes])),
        half_width=float(np.mean([one.half_width for one in outcomes])),
        error=float(np.sqrt(np.mean([one.error**2 for one in outcomes]))),
        coverage=float(np.mean([one.covered for one in outcomes])),
        pool_size=pool_size,
        runs=len(outcomes),
    )


def _check(rules: Sequence[str], *, half_width: float, runs: int, strata: int, look: int) -> None:
    for rule in rules:
        if rule not in get_args(Rule):
            raise InvalidArgumentError(
                f"`rules` must be among {', '.join(get_args(Rule))}; got {rule!r}"
            )
    if not half_width > 0:
        raise InvalidArgumentError(f"`half_width` must be above zero; got {half_width}")
    for name, value in (("runs", runs), ("strata", strata), ("look", look)):
        if value < 1:
            raise InvalidArgumentError(f"`{name}` must be at least 1; got {value}")
