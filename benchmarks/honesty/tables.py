"""The tables of the page, made from the results."""

from collections import defaultdict

import numpy as np

from benchmarks.honesty.figure import SHOWN
from benchmarks.honesty.kinds import BROKEN, KINDS
from benchmarks.honesty.summary import (
    DEFAULT,
    FROM,
    alike,
    averages,
    best_peer,
    common,
    default_rows,
    off,
)
from benchmarks.speed.contests import CONTESTS, METRICS, US

# Too slow to be replayed often at every size.
_SLOW = ("evalstats", "cje-eval")
_RATES = {name for name, _, _ in METRICS}


def table(head, body):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def percent(value, error=None):
    doubt = "" if error is None else f" ± {100 * error:.1f}"
    return f"{100 * value:.1f}{doubt}"


def coverage(found):
    """Whether coverage is within a point of the level, and error above the plain mean's, cell by cell."""
    cells = default_rows(found)
    below, above = off(cells)
    dear = [row for row in cells if row["cost"] - 2 * row["cost_se"] > 1]
    within = len(cells) - len(below) - len(above)
    return (
        f"- `{DEFAULT}` in {len(cells)} cells from {FROM} judgments per system on: {within} are within one point of 95%, as far as "
        f"two standard errors show. Below 94%: {_where(below, 'coverage')}. Above 96%: {_where(above, 'coverage')}.\n"
        f"- Its squared error is above the plain mean's by more than two standard errors in {len(dear)} cells: {_where(dear, 'cost')}."
    )


def _where(rows, name):
    def value(row):
        if name == "coverage":
            return percent(row[name], row[f"{name}_se"])
        return f"{row[name]:.3f} ± {row[f'{name}_se']:.3f}"

    return "; ".join(f"{row['cell']}, n = {row['n']}: {value(row)}" for row in rows) or "none"


def by_kind(found):
    """The default in each kind beside the narrowest way of another tool that covers there."""
    found = [row for row in found if row["n"] >= FROM]
    grouped = averages(found, by=lambda row: (row["cell"], row["way"]))
    body = []
    for kind in KINDS:
        if (kind.name, DEFAULT) not in grouped:
            continue
        ours, plain = (grouped[kind.name, way] for way in (DEFAULT, "plain t"))
        best = best_peer(found, kind.name)
        body.append(
            [
                kind.name + (" †" if kind.name in BROKEN else ""),
                _three(ours),
                percent(plain.coverage),
                "none" if best is None else f"{best.way}: {_three(best)}",
                "" if best is None else f"{100 * (ours.width / best.width - 1):+.1f}%",
            ]
        )
    head = ["kind", DEFAULT, "plain t", "narrowest other tool that covers", "our width against it"]
    return table(head, body)


def most_doubt(found):
    """The greatest standard error of coverage in `by_kind`, in points."""
    found = [row for row in found if row["n"] >= FROM]
    grouped = averages(found, by=lambda row: (row["cell"], row["way"]))
    shown = [grouped[kind.name, DEFAULT] for kind in KINDS if (kind.name, DEFAULT) in grouped]
    shown += filter(None, (best_peer(found, kind.name) for kind in KINDS))
    return percent(max(one.coverage_se for one in shown))


def _three(one):
    return f"{percent(one.coverage)}/{one.width:.3f}/{one.cost:.3f}"


def all_ways(found):
    """The shown ways over the kinds that keep what all tools assume, from 20 judgments on, where all were asked."""
    every = averages(common(alike(found)))
    shown = [one for way in SHOWN if (one := every.get(way))]
    body = [
        [
            one.way,
            percent(one.coverage, one.coverage_se),
            f"{one.width:.3f}",
            f"{one.cost:.3f} ± {one.cost_se:.3f}",
            f"{one.intervals:,}",
        ]
        for one in sorted(shown, key=lambda one: -one.coverage)
    ]
    return table(["way", "coverage, %", "width", "cost", "intervals"], body)


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
    return f"{percent(one.coverage)}{short}/{one.width:.2f}/{one.cost:.2f}"


def _rows(results, part):
    return [
        record | {"way": way} | counts
        for record in results.of(part)
        for way, counts in record["ways"].items()
        if counts.get("refused", 0) < 1
    ]


def _share(group, name):
    """Mean share over cells in percent, with the binomial standard error of it."""
    known = [(row[name], row["runs"]) for row in group if row.get(name) is not None]
    if not known:
        return ""
    shares, runs = np.array(known).T
    # a share of none or all has an error as if half a case were the other way
    sure = np.clip(shares, 0.5 / runs, 1 - 0.5 / runs)
    error = np.sqrt(np.sum(sure * (1 - sure) / runs)) / len(shares)
    return percent(shares.mean(), error)


def _ways(found):
    return list(dict.fromkeys(row["way"] for row in found))


def decisions(results):
    """Each way over contests: equal systems, and systems that differ."""
    found = _rows(results, "decisions")
    body = []
    for way in _ways(found):
        own = [row for row in found if row["way"] == way]
        equal = [row for row in own if row["cell"].endswith("equal")]
        apart = [row for row in own if not row["cell"].endswith("equal")]
        body.append(
            [
                way,
                _share(equal, "wrong_claims"),
                _share(apart, "wrong_claims"),
                _share(own, "joint_coverage"),
                f"{np.mean([row['width_ratio'] for row in own]):.2f}",
                _share(apart, "decided"),
                _share(apart, "winner"),
                _share(apart, "wrong_winner"),
                f"{len(own)}",
                f"{sum(row['runs'] for row in own):,}",
            ]
        )
    head = ["way", "a false claim, equal systems", "a wrong claim, others", "all pairs hold"]
    head += ["width", "pairs decided", "winner named", "wrong winner", "cells", "campaigns"]
    return table(head, body)


def stopping(results):
    """Every way over all cells: ever missed, missed at the end, judgments over the naive way's."""
    found = _rows(results, "stopping")
    naive = {row["cell"]: row["judgments"] for row in found if row["way"].startswith("naive")}
    body = []
    for way in _ways(found):
        own = [row for row in found if row["way"] == way]
        ratio = np.mean([row["judgments"] / naive[row["cell"]] for row in own])
        missed = _share(own, "ever_missed"), _share(own, "missed_at_stop")
        body.append([way, *missed, f"{ratio:.2f}", str(sum(row["runs"] for row in own))])
    body.sort(key=lambda line: float(line[3]))
    head = ["way", "ever missed, %", "missed at the end, %", "judgments, naive = 1", "streams"]
    return table(head, body)


def seconds(value):
    """Processor time in a unit that reads well."""
    if value < 0.001:
        return f"{1e6 * value:.3g} µs"
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:,.3g} s"


def _measured(results):
    found = defaultdict(dict)
    for record in results.of("speed"):
        found[record["cell"]][record["who"], record["n"]] = record
    return found


def ratio(ours, theirs):
    """How many times as much as ours theirs is, in two digits."""
    found = theirs / ours
    if found >= 10:
        return f"{found:,.0f}"
    return f"{found:.1f}" if found >= 1 else f"{found:.2g}"


def growth(results):
    """Every contest at its largest size, and at the largest of a peer: time, memory, and the ratio of times."""
    found = _measured(results)
    body = []
    for contest in CONTESTS:
        own = {size: one for (who, size), one in found[contest.name].items() if who == US}
        if contest.name in _RATES or not own:
            continue
        beside = {size: who for who, size in found[contest.name] if who != US and size in own}
        for size in sorted({max(own), max(beside, default=max(own))}):
            peer = found[contest.name][beside[size], size] if size in beside else None
            body.append(
                [
                    contest.name,
                    _amount(size, contest.what),
                    *_cells(own[size]),
                    *_beside(own[size], peer),
                ]
            )
    head = ["job", "size", "steelyard", "memory", "peer", "its time", "its memory", "times ours"]
    return table(head, body)


def _amount(size, what):
    return f"1 {what.removesuffix('s')}" if size == 1 else f"{size:,} {what}"


def _cells(one):
    return [seconds(one["seconds"]), f"{one['megabytes']:,} MB"]


def _beside(own, peer):
    if peer is None:
        return [""] * 4
    return [peer["who"], *_cells(peer), ratio(own["seconds"], peer["seconds"])]


def rates(results):
    """Metrics: pairs per second of processor time, each at the largest number that it was given."""
    found = _measured(results)
    body = []
    for name, peer, _ in METRICS:
        ours, theirs = (_rate(found[name], who) for who in (US, peer))
        if ours and theirs:
            body.append([name, peer, f"{ours:,.0f}", f"{theirs:,.0f}", ratio(theirs, ours)])
    return table(["metric", "peer", "ours, pairs/s", "peer's", "ratio"], body)


def _rate(found, who):
    sizes = [size for name, size in found if name == who]
    return max(sizes) / found[who, max(sizes)]["seconds"] if sizes else None


def servers(results):
    """Annotation servers: processor time of a judgment, and memory."""
    body = [
        [
            f"{record['who']} {record['version']}",
            seconds(record["seconds"]),
            f"{record['megabytes']:,} MB",
            f"{record['judgments']:,}",
            str(record["n"]),
        ]
        for record in results.of("speed")
        if record["cell"] == "annotation server"
    ]
    head = ["server", "processor time of a judgment", "memory", "judgments", "raters at once"]
    return table(head, body)


def faults(results):
    """What was tried on whom, what went wrong, and what was lost."""
    body = [
        [
            record["who"],
            record["cell"],
            f"{record['tried']:,}",
            f"{record['wrong']:,}",
            f"{record['lost']:,} of {record['of']:,} {record['unit']}" if record["unit"] else "",
        ]
        for record in sorted(results.of("faults"), key=lambda one: (one["who"], one["cell"]))
    ]
    return table(["whom", "fault", "tried", "went wrong", "lost"], body)
