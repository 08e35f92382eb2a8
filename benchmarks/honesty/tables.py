"""The tables and sentences of the page about means, made from the results."""

from collections import defaultdict

from benchmarks.honesty.figures import SHOWN
from benchmarks.honesty.kinds import BROKEN, KINDS
from benchmarks.honesty.summary import (
    DEFAULT,
    FROM,
    LEAST,
    averages,
    common,
    honest_ways,
    kept,
    narrowest,
)


def table(head, body):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def percent(value, error=None):
    doubt = "" if error is None else f" ± {100 * error:.1f}"
    return f"{100 * value:.1f}{doubt}"


def all_ways(found):
    """Every way over all kinds that keep the assumptions, from 20 judgments on, where all were asked."""
    every = averages(common(kept(found)))
    body = []
    for one in sorted(filter(None, every.values()), key=lambda one: -one.coverage):
        low, error, cell, n = one.worst
        body.append(
            [
                one.way,
                percent(one.coverage, one.coverage_se),
                f"{percent(low, error)} ({cell}, n = {n})",
                f"{one.width:.3f}",
                f"{one.cost:.3f} ± {one.cost_se:.3f}",
                f"{one.bias:+.3f} ± {one.bias_se:.3f}",
                percent(one.refused),
                f"{one.intervals:,}",
            ]
        )
    head = ["way", "coverage, %", "worst cell, %", "width", "cost", "bias"]
    head += ["refused, %", "intervals"]
    return table(head, body)


def sizes_of_all(found):
    """The numbers of judgments, from 20 on, at which all contestants were asked, in words."""
    sizes = sorted({row["n"] for row in common(kept(found))})
    return " and ".join(
        [", ".join(map(str, sizes[:-1])), str(sizes[-1])] if sizes[1:] else map(str, sizes)
    )


def by_size(found):
    """Coverage, width and cost of one way of each tool, by the number of judgments."""
    at = averages(kept(found, 0), by=lambda row: (row["way"], row["n"]))
    sizes = sorted({row["n"] for row in found})
    body = [[way, *(_cell(at.get((way, n), "not run")) for n in sizes)] for way in SHOWN]
    return table(["way", *(f"n = {n}" for n in sizes)], body)


def _cell(one):
    if one is None:
        return "refused"
    if isinstance(one, str):
        return one
    return f"{percent(one.coverage)} / {one.width:.2f} / {one.cost:.2f}"


def by_kind(found):
    """The default and plain t in each kind, and the narrowest way that covers, where all were asked."""
    found = common([row for row in found if row["n"] >= FROM])
    grouped = averages(found, by=lambda row: (row["cell"], row["way"]))
    honest = honest_ways(found)
    body = []
    for kind in KINDS:
        own = [one for (cell, _), one in grouped.items() if cell == kind.name and one]
        if not own:
            continue
        best = narrowest(own, honest)
        ours, plain = (grouped[kind.name, way] for way in (DEFAULT, "plain t"))
        body.append(
            [
                kind.name + (" †" if kind.name in BROKEN else ""),
                f"{percent(ours.coverage, ours.coverage_se)} / {ours.width:.2f} / {ours.cost:.2f}",
                f"{percent(plain.coverage, plain.coverage_se)}",
                "none"
                if best is None
                else f"{best.way}: {percent(best.coverage, best.coverage_se)} / {best.width:.2f}",
            ]
        )
    return table(["kind", f"{DEFAULT}", "plain t", "narrowest that covers"], body)


def kinds_table():
    body = [
        [
            kind.name + (" †" if kind.name in BROKEN else ""),
            str(kind.systems),
            kind.shape,
            kind.metrics,
            kind.raters,
            "each its own" if kind.own_items else "the same",
        ]
        for kind in KINDS
    ]
    return table(["kind", "systems", "scores", "metrics", "raters", "items"], body)


def refusals(found):
    """Why a way refused, and how often, where it did."""
    groups = defaultdict(list)
    for row in found:
        if row["refused"] > 0:
            groups[row["way"]].append(row)
    body = []
    for way, group in sorted(groups.items()):
        why = next((row["why_refused"] for row in group if "why_refused" in row), "not recorded")
        most = max(group, key=lambda row: row["refused"])
        body.append(
            [
                way,
                f"{percent(most['refused'])} ({most['cell']}, n = {most['n']})",
                why.replace("|", "\\|").splitlines()[0],
            ]
        )
    return table(["way", "most refused in a cell, %", "first reason"], body)


def verdicts(found):
    """Winners and losers, us included, in sentences."""
    at = averages(kept(found, 0), by=lambda row: (row["n"], row["way"]))
    lines = []
    for n in sorted({n for n, _ in at}):
        own = [one for (size, _), one in at.items() if size == n and one]
        best = narrowest(own, {one.way for one in own if one.covers})
        ours = at[n, DEFAULT]
        below = sorted((one for one in own if one.below), key=lambda one: one.coverage)
        unsure = [one for one in own if not one.below and not one.covers]
        covers = "covers" if ours.covers else "does not cover"
        lines.append(
            f"- **{n} judgments per system.** {DEFAULT} {covers}: {percent(ours.coverage, ours.coverage_se)}, "
            f"width {ours.width:.3f}, cost {ours.cost:.3f} ± {ours.cost_se:.3f}. Narrowest that covers: {_named(best)}. "
            f"Falls short: {_list(below)}. Not clear: {_list(unsure)}. {_cheapest(own)}"
        )
    return "\n".join(lines)


def _named(one):
    return "none" if one is None else f"{one.way} ({percent(one.coverage)}, width {one.width:.3f})"


def _cheapest(group):
    """The way of another tool with the least error; plain means have none to spare."""
    others = [one for one in group if not one.way.startswith("steelyard") and one.cost != 1]
    if not others:
        return "Peers were not asked yet."
    best = min(others, key=lambda one: one.cost)
    return f"Least cost of another tool: {best.way} ({best.cost:.3f} ± {best.cost_se:.3f})."


def _list(group):
    return ", ".join(f"{one.way} ({percent(one.coverage)})" for one in group) or "none"


def lost(found):
    """Cells in which the default is beyond doubt below the level, or costs more than the plain mean."""
    own = [row for row in kept(found) if row["way"] == DEFAULT and "coverage" in row]
    low = [row for row in own if row["coverage"] + 2 * row["coverage_se"] < LEAST]
    dear = [row for row in own if row["cost"] - 2 * row["cost_se"] > 1]
    return (
        f"- Of {len(own)} cells the default is below {100 * LEAST:.0f}% by more than two standard errors in "
        f"{len(low)}: {_where(low, 'coverage')}.\n"
        f"- Its error is above the plain mean's by more than two standard errors in {len(dear)}: "
        f"{_where(dear, 'cost')}."
    )


def _where(found, name):
    return (
        "; ".join(
            f"{row['cell']}, n = {row['n']}: {row[name]:.3f} ± {row[name + '_se']:.3f}"
            for row in found
        )
        or "none"
    )
