"""What ``steelyard compare`` prints of preferences."""

from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.printing import interval
from steelyard.questions.preferences import PreferenceComparison
from steelyard.questions.preferred_pairs import Share

__all__ = ["preference_tables"]


def preference_tables(one: PreferenceComparison) -> list[RenderableType]:
    """Return strengths, the answer in one sentence, the pairs, and what must be known of them."""
    parts: list[RenderableType] = []
    if one.strengths:
        parts.append(_strengths(one))
    if one.sentence:
        parts.append(one.sentence)
    parts.append(_pairs(one))
    parts.append(f"about {one.about}; verdicts hold for all pairs together at {one.level:.0%}")
    parts.append(one.order_sentence)
    parts.extend(f"note: {note}" for note in one.notes)
    return parts


def _strengths(one: PreferenceComparison) -> Table:
    table = Table(title=f"Strengths (wins minus losses), prompt {one.prompt}", title_justify="left")
    table.add_column("system")
    table.add_column("strength", justify="right")
    table.add_column(f"{one.level:.0%} interval, all together")
    for system in one.strengths:
        table.add_row(system.system, f"{system.strength:+.3f}", interval(system.low, system.high))
    return table


def _pairs(one: PreferenceComparison) -> Table:
    level = f"{one.level:.0%}"
    table = Table(title=f"Preferences, prompt {one.prompt}", title_justify="left")
    for heading in ("a", "b", "a wins", "tie", "b wins"):
        table.add_column(heading)
    table.add_column("a - b", justify="right")
    table.add_column(f"{level} interval")
    if len(one.pairs) > 1:
        table.add_column("all together")
    table.add_column("p" if len(one.pairs) == 1 else "p (all pairs)", justify="right")
    table.add_column("verdict")
    table.add_column("items", justify="right")
    for pair in one.pairs:
        cells = [pair.a, pair.b, *(_share(share) for share in (pair.win, pair.tie, pair.loss))]
        cells += [f"{pair.difference:+.3f}", interval(pair.low, pair.high)]
        if len(one.pairs) > 1:
            cells.append(interval(pair.simultaneous_low, pair.simultaneous_high))
        same = f" ({pair.identical_items} identical)" if pair.identical_items else ""
        table.add_row(*cells, f"{pair.p_value:.2g}", pair.words, f"{pair.n_items}{same}")
    return table


def _share(share: Share) -> str:
    return f"{share.value:.0%} [{share.low:.0%}, {share.high:.0%}]"
