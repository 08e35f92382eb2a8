"""The tables and sentences of the page about means, made from the results."""

from benchmarks.honesty.figures import SHOWN
from benchmarks.honesty.summary import alike, averages, common
from benchmarks.honesty.table_text import percent, table

# Too slow to be replayed often at every size.
_SLOW = ("evalstats", "cje-eval")


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
                percent(one.refused),
                f"{one.intervals:,}",
            ]
        )
    head = ["way", "coverage, %", "worst cell, %", "width", "cost", "refused, %", "intervals"]
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
    shown = [way for way in SHOWN if not way.startswith(_SLOW)]
    body = [[way, *(_cell(at.get((way, n), "not run")) for n in sizes)] for way in shown]
    return table(["way", *(f"n = {n}" for n in sizes)], body)


def _cell(one):
    if one is None:
        return "refused"
    if isinstance(one, str):
        return one
    short = " ↓" if one.below else ""
    return f"{percent(one.coverage)}{short} / {one.width:.2f} / {one.cost:.2f}"
