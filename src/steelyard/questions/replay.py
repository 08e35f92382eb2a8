"""What fewer judgments, or another rule, would have shown in a finished campaign."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.html_table import html_table
from steelyard.model.campaign import Floats
from steelyard.questions.answer import better_pairs
from steelyard.questions.asked import Asked
from steelyard.questions.fitted import PromptFit
from steelyard.questions.goal import Goal
from steelyard.questions.monitor import look_at
from steelyard.questions.monitored import Monitored
from steelyard.questions.redraw import Redraw

__all__ = ["Replay", "ReplayedPair", "ReplayedSystem", "Rule", "replayed"]


@dataclass(frozen=True, kw_only=True)
class ReplayedSystem:
    """What became of one system over many replays.

    Attributes
    ----------
    system : str
        The system.
    truth : float
        Its mean by all judgments of the campaign.
    judgments : float
        Mean number of its judgments.
    error, plain_error : float
        Root mean square of the estimate's error, and of the plain mean's.
    half_width : float
        Mean half-width of the interval.
    coverage : float
        Share of intervals that hold the truth.
    best : float
        Share of replays in which it was named as the only best.
    """

    system: str
    truth: float
    judgments: float
    error: float
    plain_error: float
    half_width: float
    coverage: float
    best: float


@dataclass(frozen=True, kw_only=True)
class ReplayedPair:
    """What was said of two systems over many replays.

    Attributes
    ----------
    a, b : str
        The systems.
    truth, error, half_width, coverage : float
        As in `ReplayedSystem`, of the difference.
    better_a, better_b, equivalent, undecided : float
        Shares of verdicts.
    """

    a: str
    b: str
    truth: float
    error: float
    half_width: float
    coverage: float
    better_a: float
    better_b: float
    equivalent: float
    undecided: float


@dataclass(frozen=True, kw_only=True)
class Replay:
    """What one plan or rule gave over many replays of the campaign under one prompt.

    Attributes
    ----------
    prompt : str
        The prompt.
    metrics : tuple of str
        The metrics that were used.
    goal : str
        What ended the collection; "none" where a number of outputs was judged.
    n_outputs : int
        Outputs of each system that were judged, at most.
    planned : float or None
        Judgments of each system that were planned.
    judgments, most_judgments : float
        Mean number of judgments of all systems, and what one replay in ten exceeds.
    reached : float or None
        Share of replays that reached the goal.
    wrong : float
        Share of replays with a verdict that all judgments of the campaign contradict.
    runs : int
        Replays.
    systems : tuple of ReplayedSystem
        What became of each system.
    pairs : tuple of ReplayedPair
        What was said of each pair.
    notes : tuple of str
        What a reader must know.
    """

    prompt: str
    metrics: tuple[str, ...]
    goal: str
    n_outputs: int
    planned: float | None
    judgments: float
    most_judgments: float
    reached: float | None
    wrong: float
    runs: int
    systems: tuple[ReplayedSystem, ...]
    pairs: tuple[ReplayedPair, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return asdict(self) | {
            "metrics": list(self.metrics),
            "systems": [asdict(one) for one in self.systems],
            "pairs": [asdict(one) for one in self.pairs],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return (
            f"<Replay, prompt {self.prompt}: {self.judgments:,.0f} judgments, goal {self.goal}, "
            f"{self.runs} runs>"
        )

    def _repr_html_(self) -> str:
        names = ("system", "error", "of plain means", "half-width", "holds", "judgments")
        rows = [
            (
                one.system,
                f"{one.error:.3f}",
                f"{one.plain_error:.3f}",
                f"{one.half_width:.3f}",
                f"{one.coverage:.0%}",
                f"{one.judgments:,.0f}",
            )
            for one in self.systems
        ]
        return html_table(names, rows, right=(False, *[True] * 5), below=list(self.notes))


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How the replayed campaigns are judged, and what ends them.

    Attributes
    ----------
    goal : Goal
        What ends the collection; without a goal all outputs are judged, and looked at once.
    n_outputs : int
        Outputs of each system to judge, at most.
    planned : float or None
        Judgments of each system that are planned, where there is a goal.
    look : int
        Outputs of each system between looks.
    same_items : bool
        Whether systems are judged on the same items, where the campaign has the same for all.
    lower_is_better : bool
        Whether lower scores are better.
    """

    goal: Goal
    n_outputs: int
    planned: float | None = None
    look: int = 10
    same_items: bool = True
    lower_is_better: bool = False


@dataclass(frozen=True, eq=False)
class _Run:
    """One replay: estimates, intervals and verdicts at its end."""

    judgments: Floats
    estimate: Floats
    plain: Floats
    low: Floats
    high: Floats
    difference: Floats
    lowest: Floats
    highest: Floats
    verdict: tuple[str, ...]
    best: int | None
    reached: bool


def replayed(
    found: PromptFit,
    asked: Asked,
    rule: Rule,
    *,
    runs: int = 200,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """Replay a campaign many times.

    Parameters
    ----------
    found : PromptFit
        The finished campaign under one prompt.
    asked : Asked
        What intervals are about.
    rule : Rule
        How the replayed campaigns are judged.
    runs, seed
        How many replays, and the seed.
    progress : callable, optional
        Called with the number of replays made and that of all.

    Raises
    ------
    InvalidArgumentError
        If fewer than two outputs are judged, or more than there are.
    NotEstimableError
        If the campaign was not drawn simply, or no replay gives an answer.
    """
    redraw = Redraw.of(found, same_items=rule.same_items)
    if not 2 <= rule.n_outputs <= redraw.most:
        raise InvalidArgumentError(
            f"`n` must lie between 2 and {redraw.most}, the outputs of the smallest pool; got "
            f"{rule.n_outputs}"
        )
    if runs < 1:
        raise InvalidArgumentError(f"`runs` must be at least 1; got {runs}")
    done: list[_Run] = []
    refusal = NotEstimableError("no replay gave an answer")
    for number in range(runs):
        rng = np.random.default_rng([seed, number])
        try:
            done.append((_stopped if rule.goal.given else _once)(redraw, asked, rule, rng))
        except NotEstimableError as error:
            refusal = error
        if progress is not None:
            progress(number + 1, runs)
    if not done:
        raise refusal
    return _summary(redraw, done, rule, runs)


def _once(redraw: Redraw, asked: Asked, rule: Rule, rng: np.random.Generator) -> _Run:
    """Judge so many outputs and look once."""
    model = redraw.draw(rng, rule.n_outputs).all()
    [now, *_] = look_at(model, asked, rule.goal, lower=rule.lower_is_better)
    return _run_of(redraw, model, asked, now)


def _stopped(redraw: Redraw, asked: Asked, rule: Rule, rng: np.random.Generator) -> _Run:
    """Look again and again until the goal is reached; systems that need no more get no more."""
    drawn = redraw.draw(rng, rule.n_outputs)
    inside = np.ones(redraw.k, dtype=np.bool_)
    last: _Run | None = None
    for n in [*range(rule.look, rule.n_outputs, rule.look), rule.n_outputs]:
        drawn.judge(n, inside)
        try:
            model = drawn.so_far(rule.planned)
            [now, *_] = look_at(model, asked, rule.goal, lower=rule.lower_is_better)
        except NotEstimableError:
            continue
        last = _run_of(redraw, model, asked, now)
        enough = set(now.enough)
        inside = np.array([one not in enough for one in redraw.systems])
        if now.reached:
            break
    if last is None:
        raise NotEstimableError("no look gave an answer: judge more outputs")
    return last


def _run_of(redraw: Redraw, model: PromptFit, asked: Asked, now: Monitored) -> _Run:
    """Return the figures of a replay."""
    systems = {one.system: one for one in now.systems}
    ordered = [systems[one] for one in redraw.systems]
    plain = model.plain(asked.target, model.raters(asked.raters)[0]).mean
    beaten = {worse for _, worse in better_pairs(now.pairs, now.level)}
    if now.goal.startswith("best"):
        beaten = set(now.enough) if not now.reached else {one.system for one in now.systems[1:]}
    left = [place for place, one in enumerate(redraw.systems) if one not in beaten]

    def column(name: str, those: Sequence[object]) -> Floats:
        values = [getattr(one, name) for one in those]
        return np.array([np.nan if one is None else one for one in values], dtype=np.float64)

    return _Run(
        judgments=column("n_judgments", ordered),
        estimate=column("estimate", ordered),
        plain=plain,
        low=column("low", ordered),
        high=column("high", ordered),
        difference=column("difference", now.pairs),
        lowest=column("low", now.pairs),
        highest=column("high", now.pairs),
        verdict=tuple(one.verdict for one in now.pairs),
        best=left[0] if len(left) == 1 else None,
        reached=now.reached,
    )


def _summary(redraw: Redraw, done: Sequence[_Run], rule: Rule, runs: int) -> Replay:
    def all_of(name: str) -> Floats:
        return np.array([getattr(one, name) for one in done], dtype=np.float64)

    truth, used = redraw.truth, all_of("judgments")
    best = np.array([-1 if one.best is None else one.best for one in done])
    off, width = all_of("estimate") - truth, (all_of("high") - all_of("low")) / 2
    holds = (all_of("low") <= truth + 1e-12) & (all_of("high") >= truth - 1e-12)
    systems = tuple(
        ReplayedSystem(
            system=name,
            truth=float(truth[place]),
            judgments=float(used[:, place].mean()),
            error=float(np.sqrt(np.mean(off[:, place] ** 2) + redraw.noise[place])),
            plain_error=float(
                np.sqrt(
                    np.mean((all_of("plain")[:, place] - truth[place]) ** 2) + redraw.noise[place]
                )
            ),
            half_width=float(width[:, place].mean()),
            coverage=float(holds[:, place].mean()),
            best=float(np.mean(best == place)),
        )
        for place, name in enumerate(redraw.systems)
    )
    pairs, wrong = _pairs(redraw, done, lower=rule.lower_is_better)
    total = used.sum(axis=1)
    notes = [
        (
            f"{redraw.n_items} judged items stand for the pool; errors are about the means of their "
            "judgments, by exactly these raters"
        )
    ]
    refused = runs - len(done)
    if refused:
        notes.append(f"{refused} of {runs} replays gave no answer and are left out")
    return Replay(
        prompt=redraw.prompt,
        metrics=redraw.campaign.metrics,
        goal=str(rule.goal),
        n_outputs=rule.n_outputs,
        planned=rule.planned,
        judgments=float(total.mean()),
        most_judgments=float(np.quantile(total, 0.9)),
        reached=float(np.mean([one.reached for one in done])) if rule.goal.given else None,
        wrong=wrong,
        runs=len(done),
        systems=systems,
        pairs=pairs,
        notes=tuple(notes),
    )


def _pairs(
    redraw: Redraw, done: Sequence[_Run], *, lower: bool
) -> tuple[tuple[ReplayedPair, ...], float]:
    """Return what was said of each pair, and how often something false was said."""
    found, wrong = [], np.zeros(len(done), dtype=np.bool_)
    for place, (a, b) in enumerate(redraw.pairs):
        truth = float(redraw.truth[a] - redraw.truth[b])
        off = np.array([one.difference[place] for one in done]) - truth
        low = np.array([one.lowest[place] for one in done])
        high = np.array([one.highest[place] for one in done])
        said = np.array([one.verdict[place] for one in done])
        towards = -truth if lower else truth
        wrong |= (said == "a") & (towards <= 0)
        wrong |= (said == "b") & (towards >= 0)
        noise = redraw.noise[a] + redraw.noise[b]
        share = {one: float(np.mean(said == one)) for one in ("a", "b", "equivalent", "undecided")}
        found.append(
            ReplayedPair(
                a=redraw.systems[a],
                b=redraw.systems[b],
                truth=truth,
                error=float(np.sqrt(np.mean(off**2) + noise)),
                half_width=float(np.mean(high - low) / 2),
                coverage=float(np.mean((low <= truth + 1e-12) & (high >= truth - 1e-12))),
                better_a=share["a"],
                better_b=share["b"],
                equivalent=share["equivalent"],
                undecided=share["undecided"],
            )
        )
    return tuple(found), float(wrong.mean())
