"""Replays of a finished comparison: what fewer judgments would have shown of two systems."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Options, Raters
from steelyard.estimate.differences import Difference, campaign_differences
from steelyard.estimate.ledger import Ledger, mean_ledger
from steelyard.questions.compare import check_pairs
from steelyard.questions.pairs import verdict_of
from steelyard.records import names_of
from steelyard.results import Results
from steelyard.study.campaign import rater_mode
from steelyard.study.compared_draw import is_paired_draw
from steelyard.study.judged import judged_table
from steelyard.study.judged_pair import JudgedPair

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["PairReplay", "simulate_pair"]

Floats = NDArray[np.float64]
# An error below this share of the half-width is rounding.
_ROUNDING = 1e-9
_NUMBERS = (20, 50, 100, 200)
_COLUMNS = (
    *("a", "b", "prompt", "rule", "n_items", "judgments", "error", "relative_judgments"),
    *("half_width", "coverage", "better_a", "better_b", "equivalent", "undecided"),
)


@dataclass(frozen=True, kw_only=True)
class PairReplay:
    """What one number of judgments showed of two systems, over many replays.

    Attributes
    ----------
    a, b, prompt : str
        The systems and the prompt.
    rule : {"compare", "plain means"}
        The same items on which they differ, as `compare` takes them; or plain means of independent
        items.
    n_items, judgments : int
        Items judged of each system, and judgments in all.
    difference : float
        That of the whole campaign, which replays are about.
    error : float
        Root mean squared error of the difference.
    relative_judgments : float or None
        Judgments for the error of plain means, which need 1; None where these have no error, as
        once a whole pool is judged.
    half_width, coverage : float
        Mean half-width of intervals, and the share that held the truth.
    better_a, better_b, equivalent, undecided : float
        Share of each verdict.
    pool_size, identical_items, runs : int
        Items, how many of them have identical outputs, and the number of replays.
    ledger : Ledger or None
        Of `compare`: judgments that plain means would need for its intervals, and what saved them; the
        mean over every tenth replay.
    """

    a: str
    b: str
    prompt: str
    rule: str
    n_items: int
    judgments: int
    difference: float
    error: float
    relative_judgments: float | None
    half_width: float
    coverage: float
    better_a: float
    better_b: float
    equivalent: float
    undecided: float
    pool_size: int
    identical_items: int
    runs: int
    ledger: Ledger | None = None

    @property
    def system(self) -> str:
        """The pair."""
        return f"{self.a} - {self.b}"

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return vars(self) | {"ledger": self.ledger and self.ledger.to_dict()}

    def __repr__(self) -> str:
        return (
            f"<PairReplay {self.system}, prompt {self.prompt}, {self.rule}: {self.judgments} "
            f"judgments, error {self.error:.3g}, coverage {self.coverage:.0%} of {self.runs}>"
        )

    def _repr_html_(self) -> str:
        return Results([self], columns=_COLUMNS)._repr_html_()


def simulate_pair(
    study: "Study",
    pair: tuple[str, str],
    n: Sequence[int] | None = None,
    *,
    metrics: Sequence[str] | None = None,
    prompt: str | None = None,
    margin: float | None = None,
    raters_as: Raters | None = None,
    runs: int = 200,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Results[PairReplay]:
    """Replay the comparison of two systems with fewer judgments.

    A replay makes a pool of the real size from the items that were judged for both, each as often as
    needed, and draws n of those on which the two differ, with one judgment of each output. The
    truth is the difference of all judgments, off by as much as rater noise may put it. Beside it
    stand plain means of n items of each system, drawn independently.

    Parameters
    ----------
    study : Study
        The finished campaign.
    pair : (str, str)
        The systems.
    n : sequence of int, optional
        Numbers of items to judge of each; 20, 50, 100 and 200 by default, as far as the pool goes.
    metrics, prompt, margin, raters_as, level
        As in `compare`.
    runs : int
        Number of replays.
    seed : int
        Seed of the replays.
    progress : callable, optional
        Called with the number of steps made and that of all.

    Returns
    -------
    Results of PairReplay
        Two for each number: by `compare`, and by plain means.
    """
    prompt = study.only_prompt(prompt)
    study.check_judged([prompt], pair)
    check_pairs([pair], margin, study.systems)
    names = study.metrics if metrics is None else names_of(metrics)
    table = judged_table(study.outputs, study.judgments, names, gaps=True)
    is_paired_draw(table, study.outputs)
    judged = JudgedPair.of(study.outputs, table, prompt=prompt, names=pair)
    numbers = _numbers(n, judged.differing, runs)
    mode, _ = rater_mode(table, prompt, raters_as, adjusted="adjusted")
    replays = _Replays(judged, Options(raters_as=mode, level=level), margin)
    found: list[PairReplay] = []
    for number in numbers:
        ours, plain = [], []
        for run in range(runs):
            rng = np.random.default_rng([seed, number, run])
            truth = rng.normal(judged.difference, judged.doubt)
            ours.append(replays.compared(number, rng, truth, with_ledger=run % 10 == 0))
            plain.append(replays.plain(number, rng, truth))
            if progress is not None and (run + 1) % 10 == 0:
                progress(len(found) * runs // 2 + run + 1, len(numbers) * runs)
        usual = float(np.mean([one.error**2 for one in plain]))
        found += [
            _summary(which, judged, number, usual, pair=pair, prompt=prompt, rule=rule)
            for rule, which in (("compare", ours), ("plain means", plain))
        ]
    return Results(found, columns=_COLUMNS)


@dataclass(frozen=True)
class _Outcome:
    error: float
    half_width: float
    covered: bool
    verdict: str
    ledger: Ledger | None = None


@dataclass(frozen=True, eq=False)
class _Replays:
    judged: JudgedPair
    options: Options
    margin: float | None

    def compared(
        self, n: int, rng: np.random.Generator, truth: float, *, with_ledger: bool
    ) -> _Outcome:
        """Draw the same items for both, where they differ, and compare."""
        pool = self.judged.pool(rng)
        systems, shared = pool.judged(n, rng)
        options = self.options
        if systems[0].raters is None:
            options = replace(options, raters_as="fixed")
        options = replace(options, ledger=with_ledger)
        [found] = campaign_differences(systems, [(0, 1)], [shared], options=options)
        if not isinstance(found, Difference):
            raise found
        # What the pool of this replay differs by, which its own draw stands for.
        reach = (found.high - found.low) / 2
        made = self._outcome(found.difference, reach, truth + pool.shift)
        return replace(made, ledger=found.ledger)

    def plain(self, n: int, rng: np.random.Generator, truth: float) -> _Outcome:
        """Draw items for each system on its own, and take plain means."""
        pool = self.judged.pool(rng)
        a, b = (pool.scores(side, n, rng) for side in range(2))
        share = pool.plain_share
        parts = [float(one.var(ddof=1)) / n for one in (a, b)]
        value = sum(parts)
        freedom = value**2 / sum(part**2 for part in parts) * (n - 1) if value > 0 else np.inf
        reach = float(stdtrit(freedom, (1 + self.options.level) / 2) * np.sqrt(value))
        return self._outcome(share * float(a.mean() - b.mean()), share * reach, truth + pool.shift)

    def _outcome(self, found: float, reach: float, truth: float) -> _Outcome:
        clear = abs(found) > reach
        better: Literal["a", "b"] | None = ("a" if found > 0 else "b") if clear else None
        verdict = verdict_of(found - reach, found + reach, self.margin, better)
        return _Outcome(found - truth, reach, abs(found - truth) <= reach, verdict)


def _summary(
    found: Sequence[_Outcome],
    judged: JudgedPair,
    n: int,
    usual: float,
    *,
    pair: tuple[str, str],
    prompt: str,
    rule: str,
) -> PairReplay:
    squares = float(np.mean([one.error**2 for one in found]))
    half_width = float(np.mean([one.half_width for one in found]))

    ledgers = [one.ledger for one in found if one.ledger is not None]

    def share(verdict: str) -> float:
        return float(np.mean([one.verdict == verdict for one in found]))

    return PairReplay(
        a=pair[0],
        b=pair[1],
        prompt=prompt,
        rule=rule,
        better_a=share("a"),
        better_b=share("b"),
        equivalent=share("equivalent"),
        undecided=share("undecided"),
        n_items=n,
        judgments=2 * n,
        difference=judged.difference,
        error=float(np.sqrt(squares)),
        relative_judgments=squares / usual if usual > (_ROUNDING * half_width) ** 2 else None,
        half_width=half_width,
        coverage=float(np.mean([one.covered for one in found])),
        pool_size=judged.items,
        identical_items=judged.items - judged.differing,
        runs=len(found),
        ledger=mean_ledger(ledgers) if ledgers else None,
    )


def _numbers(asked: Sequence[int] | None, most: int, runs: int) -> list[int]:
    if runs < 1:
        raise InvalidArgumentError(f"`runs` must be at least 1; got {runs}")
    numbers = [one for one in _NUMBERS if one <= most] if asked is None else list(asked)
    for one in numbers:
        if not 2 <= one <= most:
            raise InvalidArgumentError(
                f"`n` must be from 2 to {most}, the items on which the two systems differ; got {one}"
            )
    if not numbers:
        raise NotEstimableError(f"the two systems differ on {most} items only: name `n` (-n)")
    return numbers
