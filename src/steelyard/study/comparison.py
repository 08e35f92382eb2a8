"""Which system is better: differences, ranks and groups of the systems of a campaign."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import judged_outputs, simple_draw
from steelyard.data import Outputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Estimate, Options, Raters
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.differences import Difference, Shared, campaign_differences
from steelyard.study.campaign import Campaign, rater_mode
from steelyard.study.judged import JudgedTable, drawn_table, judged_arrays
from steelyard.study.recorded_draw import DrawnCell

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["Comparison", "Gate", "PairDifference", "Rank", "check_pairs", "compare", "gate_answer"]

Verdict = Literal["a", "b", "equivalent", "undecided"]
Gate = Literal["better", "not-worse", "equivalent"]
Answer = Literal["holds", "fails", "undecided"]
Integers = NDArray[np.int64]

# More judgments than this many times those at hand are no forecast.
_FAR = 25


@dataclass(frozen=True, kw_only=True)
class PairDifference:
    """The mean human score of system `a` minus that of system `b`.

    Attributes
    ----------
    a, b : str
        The systems.
    difference, standard_error, low, high : float
        The estimate with its interval.
    simultaneous_low, simultaneous_high : float
        The interval that holds together with those of all pairs; verdicts come from it.
    p_value : float
        Of no difference, after Holm's correction for all pairs.
    verdict : {"a", "b", "equivalent", "undecided"}
        Which is better, whether they are equivalent within the margin, or that it is not known yet.
    n_items, identical_items : int
        Items judged for both on which they differ, and items with identical outputs, which differ
        by exactly zero.
    n_judgments : int
        Judgments that the difference rests on.
    more_judgments : int or None
        About how many more judgments of the two would decide; 0 if it is decided, None if nobody
        can tell.
    """

    a: str
    b: str
    difference: float
    standard_error: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    p_value: float
    verdict: Verdict
    n_items: int
    identical_items: int
    n_judgments: int
    more_judgments: int | None

    @property
    def words(self) -> str:
        """The verdict in words, with what would decide it."""
        if self.verdict == "undecided":
            more = self.more_judgments
            return "undecided" if more is None else f"undecided (about {more} more judgments)"
        if self.verdict == "equivalent":
            return "identical" if self.standard_error == 0 else "equivalent"
        return f"{self.a if self.verdict == 'a' else self.b} is better"

    def answer(self, gate: Gate, margin: float | None) -> Answer:
        """Return whether a gate on `a` against `b` holds, fails, or is undecided."""
        low, high, limit = self.simultaneous_low, self.simultaneous_high, margin or 0.0
        holds = {
            "better": low > 0,
            "not-worse": low > -limit,
            "equivalent": -limit < low and high < limit,
        }[gate]
        fails = {
            "better": high < 0 or (self.standard_error == 0 and self.difference <= 0),
            "not-worse": high < -limit,
            "equivalent": low > limit or high < -limit,
        }[gate]
        if holds:
            return "holds"
        return "fails" if fails else "undecided"


@dataclass(frozen=True, kw_only=True)
class Rank:
    """A system's estimate, and the ranks that it may have: 1 is the best."""

    system: str
    estimate: float
    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How the systems of a campaign compare under one prompt.

    Attributes
    ----------
    prompt : str
        The prompt.
    level : float
        Confidence level: of each interval, of all simultaneous ones together, and of all ranks.
    target, raters : str
        As in `Estimate`.
    margin : float or None
        Differences within it count as equivalent.
    pairs : tuple of PairDifference
        The pairs that were asked for.
    ranks : tuple of Rank
        Best estimate first; none unless all pairs were compared.
    groups : tuple of tuple of str
        Systems that are not told apart from one group to the next, best first.
    notes : tuple of str
        What a reader must know.
    """

    prompt: str
    level: float
    target: str
    raters: str
    margin: float | None
    pairs: tuple[PairDifference, ...]
    ranks: tuple[Rank, ...]
    groups: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    @property
    def about(self) -> str:
        """What the intervals are about, in words."""
        what = "new outputs like these" if self.target == "superpopulation" else "these outputs"
        who = "exactly these raters" if self.raters == "fixed" else "raters like these"
        return f"{what}, by {who}"

    @property
    def sentence(self) -> str:
        """The answer in one sentence, from the groups."""
        if not self.groups:
            return ""
        names = [_together(group) for group in self.groups]
        if len(names) == 1:
            return f"{names[0]} {'are' if len(self.groups[0]) > 1 else 'is'} not told apart."
        return "; ".join(f"{one} before {rest}" for one, rest in pairwise(names)) + "."

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return asdict(self) | {
            "pairs": [asdict(pair) for pair in self.pairs],
            "ranks": [asdict(rank) for rank in self.ranks],
            "groups": [list(group) for group in self.groups],
            "notes": list(self.notes),
            "about": self.about,
        }


def _together(group: Sequence[str]) -> str:
    return group[0] if len(group) == 1 else f"{', '.join(group[:-1])} and {group[-1]}"


def gate_answer(
    found: Sequence[Comparison], gate: Gate, margin: float | None
) -> tuple[Answer, str]:
    """Return whether a gate holds for all pairs and prompts, and say so in one line.

    Parameters
    ----------
    found : sequence of Comparison
        What `Study.compare` gave.
    gate : {"better", "not-worse", "equivalent"}
        What is asked of the first system of each pair.
    margin : float or None
        Differences that do not matter.
    """
    answers = [(one, pair.answer(gate, margin), pair) for one in found for pair in one.pairs]
    for kind in ("fails", "undecided"):
        for one, answer, pair in answers:
            if answer == kind:
                where = f"prompt {one.prompt}: {pair.a} against {pair.b}, {pair.difference:+.3g} "
                where += f"[{pair.simultaneous_low:.3g}, {pair.simultaneous_high:.3g}]"
                more = _gate_more(pair, gate, margin) if kind == "undecided" else None
                needed = "" if more is None else f"; about {more} more judgments would decide"
                return (
                    answer,
                    f"gate {gate} {'is ' if kind == 'undecided' else ''}{kind}: {where}{needed}",
                )
    return "holds", f"gate {gate} holds"


def _gate_more(pair: PairDifference, gate: Gate, margin: float | None) -> int | None:
    """Return how many more judgments would decide a gate, if the difference stays as it is."""
    reach, limit = pair.simultaneous_high - pair.difference, margin or 0.0
    gap = {
        "better": abs(pair.difference),
        "not-worse": abs(pair.difference + limit),
        "equivalent": abs(limit - abs(pair.difference)),
    }[gate]
    return _judgments_for(reach, gap, pair.n_judgments)


def compare(
    study: "Study",
    metrics: Sequence[str] | None,
    pairs: Sequence[tuple[str, str]] | None,
    *,
    prompts: Sequence[str],
    systems: Sequence[str],
    margin: float | None,
    raters_as: Raters | None,
    options: Options,
    seed: int,
) -> list[Comparison]:
    """Compare systems under each prompt; see `Study.compare`.

    Parameters
    ----------
    study : Study
        The campaign: all its systems lend one another what they know.
    metrics : sequence of str or None
        Metrics to correct with; all by default.
    pairs : sequence of (str, str) or None
        Which to compare; all pairs of `systems` by default, with ranks and groups.
    prompts, systems : sequence of str
        The prompts and systems in question.
    margin : float or None
        Differences within it count as equivalent.
    raters_as : str or None
        How raters are seen; None for a sample where at least five are known.
    options : Options
        Target, level and rater variance.
    seed : int
        Seed of the simulated joint distribution.

    Raises
    ------
    NotEstimableError
        If outputs were drawn by strata or sizes, or no pair can be compared.
    """
    names = study.metrics if metrics is None else tuple(metrics)
    table = drawn_table(study.outputs, study.judgments, names)
    _check_draw(table)
    table = JudgedTable(table.metrics, table.rows.drop("cluster", strict=False))
    gaps = study.outputs.metric_gaps(names) if names else {}
    pools = study.outputs.pool_moments(names, gaps="fill") if names else {}
    campaign = Campaign(study.outputs, table, pools, gaps)
    found = []
    for prompt in prompts:
        mode, notes = rater_mode(table, prompt, raters_as, adjusted="adjusted")
        seen = replace(options, raters_as=mode)
        found.append(
            _comparison(
                campaign,
                prompt,
                pairs,
                systems,
                margin=margin,
                options=seen,
                notes=notes,
                seed=seed,
            )
        )
    return found


def _comparison(
    campaign: Campaign,
    prompt: str,
    pairs: Sequence[tuple[str, str]] | None,
    systems: Sequence[str],
    *,
    margin: float | None,
    options: Options,
    notes: Sequence[str],
    seed: int,
) -> Comparison:
    cells = _cells(campaign, prompt)
    names = list(cells)
    judged = [system for system in systems if system in cells]
    asked = list(combinations(judged, 2)) if pairs is None else list(pairs)
    unjudged = sorted({one for pair in asked for one in pair} - set(cells))
    if unjudged or not asked:
        raise NotEstimableError(
            f"prompt {prompt!r}: a comparison needs judgments of two systems; "
            + (f"{unjudged[0]!r} has none" if unjudged else f"got {len(judged)} system(s)")
        )
    numbered = [(names.index(a), names.index(b)) for a, b in asked]
    texts = _Texts.of(campaign.outputs, names)
    shared = [texts.shared(pair, campaign.table, prompt) for pair in numbered]
    systems_judged = campaign.judged(prompt, cells)
    found = campaign_differences(systems_judged, numbered, shared, options=options, seed=seed)
    results = [_named(one, names, margin) for one in found if isinstance(one, Difference)]
    refused = [
        f"{a} and {b} are not compared: {one}"
        for (a, b), one in zip(asked, found, strict=True)
        if isinstance(one, NotEstimableError)
    ]
    if not results:
        raise NotEstimableError(f"prompt {prompt!r}: {refused[0]}")
    ranks: tuple[Rank, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    if pairs is None and not refused:
        means = campaign_means(systems_judged, options=options, seed=seed)
        known = dict(zip(names, means, strict=True))
        ranks = _ranks({one: _point(known[one]) for one in judged}, results)
        groups = _groups([rank.system for rank in ranks], results)
    same = [f"{one.a} and {one.b} have identical outputs" for one in results if _same(one)]
    return Comparison(
        prompt=prompt,
        level=options.level,
        target=options.target,
        raters=options.raters_as,
        margin=margin,
        pairs=tuple(results),
        ranks=ranks,
        groups=groups,
        notes=(*notes, *refused, *same),
    )


def _check_draw(table: JudgedTable) -> None:
    """Raise if outputs were drawn by strata or with unequal probabilities."""
    rows = table.rows
    if "probability" not in rows.columns:
        return
    if "design" in rows.columns and (rows["design"] == "paired").all():
        return
    spread = rows.group_by("system", "prompt").agg(
        wide=pl.col("probability").max() - pl.col("probability").min() > 1e-9
    )
    strata = "stratum" in rows.columns and rows["stratum"].n_unique() > 1
    if strata or spread["wide"].any():
        raise NotEstimableError(
            "outputs were drawn by strata or with unequal probabilities, and a comparison needs a "
            "simple or paired draw: use `steelyard estimate`, which weights them as they were drawn"
        )


def _point(found: Estimate | NotEstimableError) -> float:
    return float("nan") if isinstance(found, NotEstimableError) else found.estimate


def _cells(campaign: Campaign, prompt: str) -> dict[str, DrawnCell]:
    """Return every system's judged outputs; pairs may be drawn where the two differ."""
    cells = {}
    for system in campaign.table.systems:
        rows = campaign.table.of(prompt, system)
        if rows.height:
            human, _, items = judged_arrays(rows, ())
            sample = judged_outputs(human, None, items, raters=rows["rater"].to_numpy())
            cells[system] = DrawnCell(sample, simple_draw(sample, None), ())
    return cells


def _same(pair: PairDifference) -> bool:
    return pair.identical_items > 0 and pair.standard_error == 0


def _named(one: Difference, names: Sequence[str], margin: float | None) -> PairDifference:
    verdict = _verdict(one, margin)
    return PairDifference(
        a=names[one.a],
        b=names[one.b],
        difference=one.difference,
        standard_error=one.standard_error,
        low=one.low,
        high=one.high,
        simultaneous_low=one.simultaneous_low,
        simultaneous_high=one.simultaneous_high,
        p_value=one.p_value,
        verdict=verdict,
        n_items=one.n_items,
        identical_items=one.identical_items,
        n_judgments=one.n_judgments,
        more_judgments=_more(one, margin) if verdict == "undecided" else 0,
    )


def _verdict(one: Difference, margin: float | None) -> Verdict:
    low, high = one.simultaneous_low, one.simultaneous_high
    if one.standard_error == 0 or (margin is not None and -margin < low and high < margin):
        return "equivalent"
    if low > 0:
        return "a"
    return "b" if high < 0 else "undecided"


def _more(one: Difference, margin: float | None) -> int | None:
    """Return how many more judgments would decide, if all stays as it is; None if far too many."""
    reach, gap = one.simultaneous_high - one.difference, abs(one.difference)
    best = gap if margin is None else max(gap, margin - gap)
    return _judgments_for(reach, best, one.n_judgments)


def _judgments_for(reach: float, gap: float, judgments: int) -> int | None:
    """Return how many more judgments bring the half-width from `reach` to `gap`."""
    if gap <= 0 or reach / gap > np.sqrt(_FAR):
        return None
    return max(int(np.ceil(judgments * ((reach / gap) ** 2 - 1))), 1)


def _better(results: Sequence[PairDifference]) -> set[tuple[str, str]]:
    """Return the pairs of which the first is better for sure, margin or not."""
    found = set()
    for pair in results:
        if pair.simultaneous_low > 0:
            found.add((pair.a, pair.b))
        if pair.simultaneous_high < 0:
            found.add((pair.b, pair.a))
    return found


def _ranks(means: dict[str, float], results: Sequence[PairDifference]) -> tuple[Rank, ...]:
    """Return the ranks that no simultaneous interval rules out, best estimate first."""
    better = _better(results)
    ranks = []
    for system in sorted(means, key=lambda name: -means[name]):
        above = sum((other, system) in better for other in means)
        below = sum((system, other) in better for other in means)
        ranks.append(
            Rank(system=system, estimate=means[system], low=1 + above, high=len(means) - below)
        )
    return tuple(ranks)


def _groups(order: Sequence[str], results: Sequence[PairDifference]) -> tuple[tuple[str, ...], ...]:
    """Cut the order wherever all above are better for sure than all below."""
    better = _better(results)
    groups: list[list[str]] = [[]]
    for number, system in enumerate(order):
        above, below = order[:number], order[number:]
        if number and all((one, other) in better for one in above for other in below):
            groups.append([])
        groups[-1].append(system)
    return tuple(tuple(group) for group in groups)


@dataclass(frozen=True, eq=False)
class _Texts:
    """Which outputs of the pools are identical: a code for each item's text by each system."""

    items: dict[str, int]
    codes: Integers
    names: tuple[str, ...]
    known: bool

    @classmethod
    def of(cls, outputs: Outputs, names: Sequence[str]) -> "_Texts":
        columns = ["item", "system", *(["output"] if outputs.has_texts else [])]
        rows = outputs.rows(columns=columns).filter(pl.col("system").is_in(list(names)))
        items = {
            item: number for number, item in enumerate(rows["item"].unique(maintain_order=True))
        }
        number = {name: position for position, name in enumerate(names)}
        key = ["item", "output"] if outputs.has_texts else ["item", "system"]
        text = rows.select(pl.struct(key).rank("dense")).to_series().to_numpy()
        codes = np.full((len(items), len(names)), -1, dtype=np.int64)
        where = [items[item] for item in rows["item"]]
        codes[where, [number[system] for system in rows["system"]]] = text
        return cls(items, codes, tuple(names), outputs.has_texts)

    def shared(self, pair: tuple[int, int], table: JudgedTable, prompt: str) -> Shared:
        """Return what two systems have in common, and which judged outputs differ."""
        a, b = self.codes[:, pair[0]], self.codes[:, pair[1]]
        same_items = bool(((a >= 0) == (b >= 0)).all())
        same = (a == b) & (a >= 0) & same_items
        differs = []
        for number in pair:
            items = judged_arrays(table.of(prompt, self.names[number]), ())[2]
            where = [self.items[item] for item in np.unique(items)]
            differs.append(~same[where])
        count = int((a >= 0).sum()) if same_items else 0
        return Shared(count, int(same.sum()), (differs[0], differs[1]))


def check_pairs(
    pairs: Sequence[tuple[str, str]], margin: float | None, known: Sequence[str]
) -> None:
    """Raise unless each pair holds two known systems and the margin is positive."""
    if margin is not None and not (np.isfinite(margin) and margin > 0):
        raise InvalidArgumentError(f"`margin` must be a positive number; got {margin}")
    for pair in pairs:
        for system in pair:
            if system not in known:
                raise InvalidArgumentError(
                    f"system {system!r} has no judgments; there are: {', '.join(known)}"
                )
        if pair[0] == pair[1]:
            raise InvalidArgumentError(f"`pair` must name two systems; got {pair[0]!r} twice")
