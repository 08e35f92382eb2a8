"""The tables and sentences of the page about means, made from the results."""

from collections import defaultdict

from benchmarks.honesty.figures import KNOWN, SHOWN
from benchmarks.honesty.kinds import BROKEN, KINDS
from benchmarks.honesty.summary import DEFAULT, alike, averages, common, narrowest
from benchmarks.honesty.table_text import percent, table


def all_ways(found):
    """Every way over the kinds that keep what all tools assume, from 20 judgments on, where all were asked."""
    every = averages(common(alike(found)))
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
    sizes = sorted({row["n"] for row in common(alike(found))})
    return " and ".join(
        [", ".join(map(str, sizes[:-1])), str(sizes[-1])] if sizes[1:] else map(str, sizes)
    )


def by_size(found):
    """Coverage, width and cost of one way of each tool, by the number of judgments."""
    at = averages(alike(found, 0), by=lambda row: (row["way"], row["n"]))
    sizes = sorted({row["n"] for row in found})
    body = [[way, *(_cell(at.get((way, n), "not run")) for n in sizes)] for way in SHOWN]
    return table(["way", *(f"n = {n}" for n in sizes)], body)


def _cell(one):
    if one is None:
        return "refused"
    if isinstance(one, str):
        return one
    short = " ↓" if one.below else ""
    return f"{percent(one.coverage)}{short} / {one.width:.2f} / {one.cost:.2f}"


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
    """By number of judgments: the default, the narrowest way that covers, and the least error of another tool."""
    at = averages(alike(found, 0), by=lambda row: (row["n"], row["way"]))
    body = []
    for n in sorted({n for n, _ in at}):
        own = [one for (size, _), one in at.items() if size == n and one]
        best, ours = narrowest(own), at[n, DEFAULT]
        others = [one for one in own if not one.way.startswith("steelyard") and one.cost != 1]
        others = [one for one in others if one.cost_se <= KNOWN]
        cheap = min(others, key=lambda one: one.cost, default=None)
        body.append(
            [
                str(n),
                f"{percent(ours.coverage, ours.coverage_se)}",
                f"{ours.width:.3f}",
                f"{ours.cost:.3f} ± {ours.cost_se:.3f}",
                "none" if best is None else f"{best.way}: {_cell(best)}",
                "not asked"
                if cheap is None
                else f"{cheap.way}: {cheap.cost:.3f} ± {cheap.cost_se:.3f}, coverage {percent(cheap.coverage)}",
            ]
        )
    head = ["judgments per system", f"{DEFAULT}: coverage, %", "width", "cost"]
    return table([*head, "narrowest that covers", "least cost of another tool"], body)
