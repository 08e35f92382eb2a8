"""What fewer judgments, or another rule, would have shown in a finished campaign."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.model.campaign import Floats
from steelyard.model.threads import one_thread
from steelyard.questions.answer import better_pairs
from steelyard.questions.asked import Asked
from steelyard.questions.fitted import PromptFit
from steelyard.questions.goal import Goal
from steelyard.questions.monitor import Look
from steelyard.questions.pairs import PairDifference
from steelyard.questions.redraw import Drawn, Redraw

__all__ = ["Replay", "ReplayedPair", "ReplayedSystem", "replayed"]


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


@dataclass(frozen=True, eq=False)
class _Run:
    """One replay at its end: judgments, estimates and intervals of each system, and what is said of pairs."""

    judgments: Floats
    estimate: Floats
    plain: Floats
    low: Floats
    high: Floats
    pairs: tuple[PairDifference, ...]
    best: str | None
    reached: bool


@one_thread()
def replayed(
    found: PromptFit,
    asked: Asked,
    goal: Goal,
    n: int,
    *,
    planned: float | None = None,
    look: int = 10,
    lower_is_better: bool = False,
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
    goal : Goal
        What ends the collection; without a goal all outputs are judged, and looked at once.
    n : int
        Outputs of each system to judge, at most.
    planned : float, optional
        Judgments of each system that are planned, where there is a goal.
    look : int
        Outputs of each system between looks.
    lower_is_better : bool
        Whether lower scores are better.
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
    redraw = Redraw.of(found)
    if not 2 <= n <= redraw.most:
        raise InvalidArgumentError(
            f"`n` must lie between 2 and {redraw.most}, the outputs of the smallest pool; got {n}"
        )
    if runs < 1:
        raise InvalidArgumentError(f"`runs` must be at least 1; got {runs}")
    looks = [*range(look, n, look), n] if goal.given else [n]
    done: list[_Run] = []
    refusal = NotEstimableError("no replay gave an answer")
    for number in range(runs):
        rng = np.random.default_rng([seed, number])
        try:
            drawn = redraw.draw(rng, n)
            done.append(_run(drawn, asked, goal, looks, planned=planned, lower=lower_is_better))
        except NotEstimableError as error:
            refusal = error
        if progress is not None:
            progress(number + 1, runs)
    if not done:
        raise refusal
    return _summary(redraw, done, goal, n, planned=planned, runs=runs, lower=lower_is_better)


def _run(
    drawn: Drawn,
    asked: Asked,
    goal: Goal,
    looks: Sequence[int],
    *,
    planned: float | None,
    lower: bool,
) -> _Run:
    """Judge all and look once; with a goal, look again and again until it is reached.

    Systems that need no more judgments get no more. Whatever ends the replay, or a system's judgments, is looked
    at with variances that were learned from all judgments so far.
    """

    def look(*, exact: bool) -> Look:
        model = drawn.looked(planned, exact=exact) if goal.given else drawn.once()
        return Look(model, asked, goal, lower)

    needing, last = set(drawn.redraw.systems), None
    for n in looks:
        drawn.judge(n, needing)
        try:
            last = look(exact=n == looks[-1])
            if goal.given and last.needing(None) < needing:
                last = look(exact=True)
        except NotEstimableError:
            if n == looks[-1] and last is None:
                raise
            continue
        needing = last.needing(None)
        if not needing:
            break
    assert last is not None
    return _end_of(last, reached=goal.given and not needing)


def _end_of(look: Look, *, reached: bool) -> _Run:
    """Return the figures of a replay."""
    shown, asked = look.means, look.asked
    assert shown is not None
    pairs, left = look.pairs(None), look.left[None]
    if look.goal.decide != "best":
        beaten = {worse for _, worse in better_pairs(pairs, asked.level)}
        left = [one for one in left if one not in beaten]
    raters = look.found.raters(asked.raters)[0]
    return _Run(
        judgments=np.array([one.n_judgments for one in look.quantities], dtype=np.float64),
        estimate=shown.estimate,
        plain=look.found.plain(asked.target, raters).mean,
        low=shown.low,
        high=shown.high,
        pairs=pairs,
        best=left[0] if len(left) == 1 else None,
        reached=reached,
    )


def _summary(
    redraw: Redraw,
    done: Sequence[_Run],
    goal: Goal,
    n: int,
    *,
    planned: float | None,
    runs: int,
    lower: bool,
) -> Replay:
    def all_of(name: str) -> Floats:
        return np.array([getattr(one, name) for one in done], dtype=np.float64)

    def root_mean_square(off: Floats) -> Floats:
        return np.asarray(np.sqrt(np.mean(off**2, axis=0) + redraw.noise))

    truth, used = redraw.truth, all_of("judgments")
    least, most = all_of("low"), all_of("high")
    error = root_mean_square(all_of("estimate") - truth)
    plain_error = root_mean_square(all_of("plain") - truth)
    holds = (least <= truth + 1e-12) & (most >= truth - 1e-12)
    systems = tuple(
        ReplayedSystem(
            system=name,
            truth=float(truth[place]),
            judgments=float(used[:, place].mean()),
            error=float(error[place]),
            plain_error=float(plain_error[place]),
            half_width=float((most - least)[:, place].mean() / 2),
            coverage=float(holds[:, place].mean()),
            best=float(np.mean([one.best == name for one in done])),
        )
        for place, name in enumerate(redraw.systems)
    )
    pairs, wrong = _pairs(redraw, done, lower=lower)
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
        prompt=redraw.found.prompt,
        metrics=redraw.campaign.metrics,
        goal=str(goal),
        n_outputs=n,
        planned=planned,
        judgments=float(total.mean()),
        most_judgments=float(np.quantile(total, 0.9)),
        reached=float(np.mean([one.reached for one in done])) if goal.given else None,
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
    place = {one: number for number, one in enumerate(redraw.systems)}
    for own in zip(*(one.pairs for one in done), strict=True):
        a, b = place[own[0].a], place[own[0].b]
        truth = float(redraw.truth[a] - redraw.truth[b])
        shown = np.array([(one.difference, one.low, one.high) for one in own])
        low, high = shown[:, 1], shown[:, 2]
        said = np.array([one.verdict for one in own])
        towards = -truth if lower else truth
        wrong |= ((said == "a") & (towards <= 0)) | ((said == "b") & (towards >= 0))
        noise = redraw.noise[a] + redraw.noise[b]
        share = {one: float(np.mean(said == one)) for one in ("a", "b", "equivalent", "undecided")}
        found.append(
            ReplayedPair(
                a=own[0].a,
                b=own[0].b,
                truth=truth,
                error=float(np.sqrt(np.mean((shown[:, 0] - truth) ** 2) + noise)),
                half_width=float(np.mean(high - low) / 2),
                coverage=float(np.mean((low <= truth + 1e-12) & (high >= truth - 1e-12))),
                better_a=share["a"],
                better_b=share["b"],
                equivalent=share["equivalent"],
                undecided=share["undecided"],
            )
        )
    return tuple(found), float(wrong.mean())
