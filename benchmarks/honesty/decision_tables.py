"""The tables of the page about decisions and stopping, made from the results."""

import numpy as np

from benchmarks.honesty.table_text import percent, table


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
