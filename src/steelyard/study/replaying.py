"""`Study.replay`: what fewer judgments, or another rule, would have shown in a finished campaign."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from steelyard.errors import InvalidArgumentError
from steelyard.questions.about import Raters, Target
from steelyard.questions.asked import Asked
from steelyard.questions.goal import Decide, Goal
from steelyard.questions.replay import Replay, replayed
from steelyard.results import ResultTable

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["replay"]

_COLUMNS = ("prompt", "goal", "n_outputs", "judgments", "most_judgments", "reached", "wrong")


def replay(
    study: "Study",
    n: int | Sequence[int],
    metrics: Sequence[str] | None = None,
    *,
    half_width: float | None = None,
    goal: Decide | None = None,
    margin: float | None = None,
    planned: float | None = None,
    look: int = 10,
    runs: int = 200,
    seed: int = 0,
    prompts: Sequence[str] | None = None,
    target: Target = "pool",
    raters: Raters | None = None,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> ResultTable[Replay]:
    """Replay a finished campaign: draw smaller ones from it, and ask them the same questions.

    Parameters
    ----------
    n : int or sequence of int
        Outputs of each system to judge; with a goal, at most.
    metrics
        As in `estimate`.
    half_width, goal, margin, planned
        As in `monitor`: collection ends when the goal is reached, and systems that need no more judgments
        get none. Without a goal all n outputs are judged, and looked at once.
    look : int
        Outputs of each system between looks.
    runs, seed : int
        How many replays, and the seed.
    prompts, target, raters, level
        As in `estimate`.
    progress : callable, optional
        Called with the number of replays made and that of all.

    Returns
    -------
    ResultTable of Replay
        One for each prompt and number.
    """
    aim = Goal.of(half_width=half_width, decide=goal, gate=None, margin=margin)
    if look < 1:
        raise InvalidArgumentError(f"`look` must be at least 1; got {look}")
    fits = study.fits(metrics)
    asked = Asked.of(fits, prompts, None, target=target, raters=raters, level=level)
    numbers = [n] if isinstance(n, int) else list(n)
    scored = asked.scored(fits)
    lower = fits.source.judgments.lower_is_better
    found, total = [], len(scored) * len(numbers) * runs
    for place, (prompt, number) in enumerate((one, each) for one in scored for each in numbers):
        before = place * runs

        def said(done: int, _: int, before: int = before) -> None:
            if progress is not None:
                progress(before + done, total)

        made = replayed(
            fits.of(prompt),
            asked,
            aim,
            number,
            planned=planned,
            look=look,
            lower_is_better=prompt in lower,
            runs=runs,
            seed=seed,
            progress=said,
        )
        found.append(made)
    return ResultTable(found, columns=_COLUMNS)
