"""Which system is better: differences, ranks and groups of the systems of a campaign."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Options, Raters
from steelyard.estimate.campaign_leniency import FEW_RATERS, UNKNOWN_LENIENCY
from steelyard.estimate.compared_judgments import NO_SCALE
from steelyard.estimate.differences import Difference, campaign_differences
from steelyard.html_table import html_table
from steelyard.names import known_names
from steelyard.study.campaign import Campaign, rater_mode
from steelyard.study.compared_draw import check_clusters, is_paired_draw, simple_cells
from steelyard.study.compared_parts import ComparedParts
from steelyard.study.judged import drawn_table
from steelyard.study.pair_difference import (
    Answer,
    Gate,
    PairDifference,
    gate_more,
    named_difference,
)
from steelyard.study.ranks import Rank, answer_sentence, groups_of, ranks_of
from steelyard.study.slices import Slices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.study.study import Study

__all__ = [
    "Comparison",
    "Gate",
    "PairDifference",
    "Rank",
    "better_pairs",
    "check_pairs",
    "compare",
    "gate_answer",
    "step_note",
]

# A system without any of so many pairs is said once, not pair by pair.
_MANY_PAIRS = 3
_STEPS = (
    "verdicts go by steps, from the clearest pair down; so a pair may be decided although its interval "
    "for all pairs together holds 0"
)


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
    slice : str or None
        The slice of the outputs that is compared, or the weights of a mix of slices; None for all.
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
    slice: str | None = None

    @property
    def place(self) -> str:
        """The prompt, and the slice if there is one, in words."""
        return f"prompt {self.prompt}" + ("" if self.slice is None else f", {self.slice}")

    @property
    def about(self) -> str:
        """What the intervals are about, in words."""
        what = "new outputs like these" if self.target == "superpopulation" else "these outputs"
        who = "exactly these raters" if self.raters == "fixed" else "raters like these"
        where = "" if self.slice is None else f" ({self.slice})"
        return f"{what}{where}, by {who}"

    @property
    def sentence(self) -> str:
        """The answer in one sentence; none unless all pairs were compared."""
        return answer_sentence(self.groups, better_pairs(self.pairs, self.level))

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return asdict(self) | {
            "pairs": [asdict(pair) for pair in self.pairs],
            "ranks": [asdict(rank) for rank in self.ranks],
            "groups": [list(group) for group in self.groups],
            "notes": list(self.notes),
            "about": self.about,
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the differences of all pairs; of more than 20 pairs, the ranks or strengths of systems.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.study.result_plots import plot_comparisons  # noqa: PLC0415

        return plot_comparisons([self], ax)

    def __repr__(self) -> str:
        said = f"; {self.sentence}" if self.sentence else ""
        return f"<{type(self).__name__}, {self.place}: {len(self.pairs)} pairs{said}>"

    def _repr_html_(self) -> str:
        names = ("a", "b", "a - b", f"{self.level:.0%} interval", "all together", "verdict")
        rows = [
            (
                *(pair.a, pair.b, f"{pair.difference:+.3f}"),
                f"[{pair.low:.3f}, {pair.high:.3f}]",
                f"[{pair.simultaneous_low:.3f}, {pair.simultaneous_high:.3f}]",
                pair.words,
            )
            for pair in self.pairs
        ]
        below = [line for line in (self.sentence, f"about {self.about}", *self.notes) if line]
        return html_table(names, rows, right=(False, False, True, True, True, False), below=below)


def better_pairs(results: Sequence[PairDifference], level: float) -> set[tuple[str, str]]:
    """Return the pairs of which the first is better for sure, margin or not."""
    known = [(pair, pair.better(level)) for pair in results]
    return {
        (pair.a, pair.b) if better == "a" else (pair.b, pair.a)
        for pair, better in known
        if better is not None
    }


def step_note(results: Sequence[PairDifference], level: float) -> tuple[str, ...]:
    """Return a note on pairs that are decided although their interval for all pairs holds 0."""
    if any(
        pair.better(level) and pair.simultaneous_low <= 0 <= pair.simultaneous_high
        for pair in results
    ):
        return (_STEPS,)
    return ()


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
    answers = [
        (one, pair.answer(gate, margin, one.level), pair) for one in found for pair in one.pairs
    ]
    for kind in ("fails", "undecided"):
        for one, answer, pair in answers:
            if answer == kind:
                where = f"{one.place}: {pair.a} against {pair.b}, {pair.difference:+.3g} "
                where += f"[{pair.simultaneous_low:.3g}, {pair.simultaneous_high:.3g}]"
                more = gate_more(pair, gate, margin) if kind == "undecided" else None
                needed = "" if more is None else f"; about {more} more judgments would decide"
                return (
                    answer,
                    f"gate {gate} {'is ' if kind == 'undecided' else ''}{kind}: {where}{needed}",
                )
    slices = dict.fromkeys(one.slice for one in found if one.slice is not None)
    where = f" in each of {', '.join(slices)}" if len(slices) > 1 else ""
    return "holds", f"gate {gate} holds{where}"


def compare(
    study: "Study",
    metrics: Sequence[str],
    pairs: Sequence[tuple[str, str]] | None,
    *,
    prompts: Sequence[str],
    systems: Sequence[str],
    margin: float | None,
    raters_as: Raters | None,
    options: Options,
    seed: int,
    cluster_by: str | None = None,
    slices: Slices | None = None,
) -> list[Comparison]:
    """Compare systems under each prompt; see `Study.compare`.

    Parameters
    ----------
    study : Study
        The campaign: all its systems lend one another what they know.
    metrics : sequence of str
        Metrics to correct with.
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
    cluster_by : str or None
        Column that names the cluster of an output.
    slices : Slices or None
        How outputs are cut: there is a comparison for each slice, or for their mix.

    Raises
    ------
    NotEstimableError
        If outputs were drawn by strata or sizes, or no pair can be compared.
    """
    names = tuple(metrics)
    table = drawn_table(study.outputs, study.judgments, names, cluster_by=cluster_by)
    check_clusters(table)
    paired = is_paired_draw(table, study.outputs)
    gaps = study.outputs.metric_gaps(names) if names else {}
    pools = study.outputs.pool_moments(names, gaps="fill") if names else {}
    campaign = Campaign(study.outputs, table, pools, gaps)
    found = []
    for prompt in prompts:
        mode, notes = rater_mode(table, prompt, raters_as, adjusted="adjusted")
        asked = _Question(
            prompt,
            pairs,
            tuple(systems),
            margin,
            replace(options, raters_as=mode),
            seed,
            paired=paired,
            few_raters=raters_as is None and 1 < table.raters(prompt) < FEW_RATERS,
            notes=(
                *campaign.left_out.values(),
                *notes,
                *(() if slices is None else slices.notes),
            ),
        )
        found += _comparisons(campaign, asked, slices)
    return found


@dataclass(frozen=True)
class _Question:
    """What is compared under one prompt; `few_raters` if one of them must have judged both of a pair."""

    prompt: str
    pairs: Sequence[tuple[str, str]] | None
    systems: tuple[str, ...]
    margin: float | None
    options: Options
    seed: int
    paired: bool
    few_raters: bool
    notes: tuple[str, ...]


def _comparisons(campaign: Campaign, asked: _Question, slices: Slices | None) -> list[Comparison]:
    """Compare systems under one prompt: as a whole, in each slice, or in a mix of slices."""
    clustered = "cluster" in campaign.table.rows.columns
    sizes = None if asked.paired or clustered else campaign.outputs.sizes
    cells = simple_cells(campaign.table, asked.prompt, sizes)
    judged = [system for system in asked.systems if system in cells]
    pairs = list(combinations(judged, 2)) if asked.pairs is None else list(asked.pairs)
    unjudged = sorted({one for pair in pairs for one in pair} - set(cells))
    if unjudged or not pairs:
        raise NotEstimableError(
            f"prompt {asked.prompt!r}: a comparison needs judgments of two systems; "
            + (f"{unjudged[0]!r} has none" if unjudged else f"got {len(judged)} system(s)")
        )
    parts = ComparedParts(campaign, asked.prompt, cells, slices)
    results, raters = _differences(parts, pairs, asked)
    if raters != asked.options.raters_as:
        options = replace(asked.options, raters_as=raters)
        asked = replace(asked, options=options, notes=(*asked.notes, UNKNOWN_LENIENCY))
    if not any(found for found, _ in results):
        raise NotEstimableError(f"prompt {asked.prompt!r}: {results[0][1][0]}")
    ranked = not asked.paired and asked.pairs is None
    points = parts.points(options=asked.options, seed=asked.seed) if ranked else []
    comparisons, left_out = [], []
    for number, (name, (found, refused)) in enumerate(zip(parts.names, results, strict=True)):
        if not found:
            left_out.append(f"{name} is left out: {refused[0]}")
            continue
        known = _ranked({one: points[number][one] for one in judged}, found) if points else {}
        comparisons.append(_comparison(asked, name, found, refused, known))
    return [replace(one, notes=(*one.notes, *left_out)) for one in comparisons]


def _ranked(means: Mapping[str, float], found: Sequence[PairDifference]) -> Mapping[str, float]:
    """Return the estimates to rank: of systems that have one, if all their pairs are known."""
    pairs = {(one.a, one.b) for one in found}
    known = {one: mean for one, mean in means.items() if not np.isnan(mean)}
    return known if all(pair in pairs for pair in combinations(known, 2)) else {}


def _comparison(
    asked: _Question,
    name: str | None,
    results: Sequence[PairDifference],
    refused: Sequence[str],
    means: Mapping[str, float],
) -> Comparison:
    """Put a comparison together; `means` are those to rank, none where not all pairs are known."""
    notes = [*asked.notes, *refused]
    notes += [f"{one.a} and {one.b} have identical outputs" for one in results if one.identical]
    if asked.paired:
        notes.append("a paired draw shows the difference of two systems, not the mean of either")
    level = asked.options.level
    notes.extend(step_note(results, level))
    better = better_pairs(results, level)
    ranks = ranks_of(means, better) if means else ()
    return Comparison(
        prompt=asked.prompt,
        level=level,
        target=asked.options.target,
        raters=asked.options.raters_as,
        margin=asked.margin,
        pairs=tuple(results),
        ranks=ranks,
        groups=groups_of([rank.system for rank in ranks], better) if ranks else (),
        notes=tuple(notes),
        slice=name,
    )


def _differences(
    parts: ComparedParts, pairs: Sequence[tuple[str, str]], asked: _Question
) -> tuple[list[tuple[list[PairDifference], list[str]]], Raters]:
    """Return the differences in each part, the pairs without one and why, and how raters are seen.

    Intervals and p-values hold for all pairs in all parts together.
    """
    names = list(parts.cells)
    refused: list[dict[tuple[str, str], str]] = [{} for _ in parts.names]
    if asked.few_raters:
        raters = {name: parts.raters(name) for name in {one for pair in pairs for one in pair}}
        for place, own in enumerate(refused):
            own |= {(a, b): NO_SCALE for a, b in pairs if not raters[a][place] & raters[b][place]}
    numbered = [(names.index(a), names.index(b)) for a, b in pairs]
    left = [
        (place, pair, number, one)
        for place, shared in enumerate(parts.shared(numbered))
        for pair, number, one in zip(pairs, numbered, shared, strict=True)
        if pair not in refused[place]
    ]
    found = campaign_differences(
        parts.campaign.judged(asked.prompt, parts.cells),
        [number for _, _, number, _ in left],
        [one for *_, one in left],
        options=asked.options,
        seed=asked.seed,
    )
    results: list[list[PairDifference]] = [[] for _ in parts.names]
    for (place, pair, _, _), one in zip(left, found, strict=True):
        if isinstance(one, Difference):
            named = named_difference(one, names, asked.margin, asked.options.level)
            results[place].append(named)
        else:
            refused[place][pair] = str(one)
    reasons = [_reasons(own, pairs) for own in refused]
    seen = next((one.raters for one in found if isinstance(one, Difference)), None)
    return list(zip(results, reasons, strict=True)), seen or asked.options.raters_as


def _reasons(refused: Mapping[tuple[str, str], str], pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Say which pairs are not compared and why, each reason once; a system that has none of many pairs, by itself."""
    asked = Counter(system for pair in pairs for system in pair)
    without = Counter((system, why) for pair, why in refused.items() for system in pair)
    left: dict[str, list[str]] = {}
    alone: dict[str, None] = {}
    for (a, b), why in refused.items():
        lonely = [one for one in (a, b) if _MANY_PAIRS <= asked[one] == without[one, why]]
        if lonely:
            alone[f"{lonely[-1]} is not compared with any other system: {why}"] = None
        else:
            left.setdefault(why, []).append(f"{a} and {b}")
    said = []
    for why, names in left.items():
        shown = names if len(names) <= _MANY_PAIRS else names[:2]
        more = len(names) - len(shown)
        every = "; ".join(shown) + (f"; and {more} more pairs" if more else "")
        said.append(f"{every} are not compared: {why}")
    return [*alone, *said]


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
                    f"system {system!r} has no judgments; {known_names(system, known)}"
                )
        if pair[0] == pair[1]:
            raise InvalidArgumentError(f"`pair` must name two systems; got {pair[0]!r} twice")
