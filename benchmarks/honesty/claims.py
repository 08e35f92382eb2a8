"""What the results show of the default, cell by cell and kind by kind, in sentences and one table."""

from benchmarks.honesty.kinds import BROKEN, KINDS
from benchmarks.honesty.summary import DEFAULT, FROM, LEAST, SURE, average, averages, kept
from benchmarks.honesty.table_text import percent, table

LEVEL, POINT = 0.95, 0.01
# Widths differ if one is this much less than the other.
_LESS = 0.01
# A way that refuses more often is no rival: it answers only where it is easy.
_SELDOM = 0.02
# Why coverage is off in a kind. Only said where it is so.
_SKEWED = (
    "the long tail is seldom drawn, and then all systems on the same items miss it together "
    "([measured below](#why-skewed-scores-fall-short)); plain t falls short by more"
)
OFF = {"skewed": _SKEWED, "curved": _SKEWED}
# From so large a share of the pool on, intervals may be long, for this reason.
LARGE = 200
_LONG = (
    "with a fifth of the pool judged once, noise cannot be told from differences between outputs, so no interval is shortened because the pool is finite; "
    "plain t, `sample_mean` and the peers of the same kind hold the truth too often in the same draws"
)
# By the peer's way: what makes its interval short.
NARROWER = {
    "potato ppi": "it takes normal quantiles and, rightly here, that the metric is on the scale of the scores (a slope from 0 to 1), whose ends it is told",
    "ssepy": "it takes normal quantiles, and the finite-pool correction as if judgments had no noise",
    "ppi-python": "it takes normal quantiles, 0.94 of Student's at 20 judgments",
    "truescore gold_only": "it knows scores of 0 and 1 as shares (Wilson's interval) and is plain t elsewhere; its error is the plain mean's",
    "truescore ppi": "it trusts its one metric from the first judgment on",
    "scipy": "it bends the interval to the skew of the sample, and its error is the plain mean's",
    "evalstats": "it was replayed too seldom to say",
    "cje-eval": "it was replayed too seldom to say",
    "plain t": "it does not lengthen for what a draw may have missed, and its error is the plain mean's",
}
_FEW = "with one or two systems nothing is lent, and the default is slow to trust a metric, which is right where metrics are useless and costs where one is good"
# By the kind: what makes ours long.
LONGER = {
    "heavy ties": "few judgments differ from the rest and decide the mean, so the default allows for those that a draw has missed",
    "adversarial metrics": "peers get the one useful metric; the default gets three, one with wild outliers, and has to find it",
    "one system": _FEW,
    "one system, binary": _FEW,
    "two systems": _FEW,
}


def off(rows):
    """Rows of the default whose coverage is below, and above, the level by more than a point and two standard errors."""
    below = [row for row in rows if row["coverage"] + 2 * row["coverage_se"] < LEVEL - POINT]
    above = [row for row in rows if row["coverage"] - 2 * row["coverage_se"] > LEVEL + POINT]
    return below, above


def default_rows(found, least=FROM):
    return [row for row in kept(found, least) if row["way"] == DEFAULT and "coverage" in row]


def coverage(found):
    """Whether coverage is within a point of the level, cell by cell and on average over sizes."""
    rows = default_rows(found)
    below, above = off(rows)
    errors = sorted(100 * row["coverage_se"] for row in rows)
    dear = [row for row in rows if row["cost"] - 2 * row["cost_se"] > 1]
    within = len(rows) - len(below) - len(above)
    level = (
        f"- **Does `{DEFAULT}` hold its level?** {len(rows)} cells from {FROM} judgments per system on, with standard errors of {errors[0]:.1f} to "
        f"{errors[-1]:.1f} points (median {errors[len(errors) // 2]:.1f}). {within} are within one point of 95%, as far as two standard errors show. "
        f"Below 94%: {_where(below, 'coverage')}. Above 96%: {_where(above, 'coverage')}."
    )
    error = (
        "- **Is its error ever above the plain mean's?** By more than two standard errors in "
        f"{len(dear)} cells: {_where(dear, 'cost')}."
    )
    why = [f"    - {kind}: {text}" for kind, text in OFF.items() if _in(kind, below)]
    why += [f"    - {LARGE} judgments: {_LONG}"] if any(row["n"] >= LARGE for row in above) else []
    said = [level, *why, error]
    return "\n".join(said)


def _in(kind, rows):
    return any(row["cell"] == kind for row in rows)


def _where(rows, name):
    def value(row):
        if name == "coverage":
            return percent(row[name], row[f"{name}_se"])
        return f"{row[name]:.3f} ± {row[f'{name}_se']:.3f}"

    return "; ".join(f"{row['cell']}, n = {row['n']}: {value(row)}" for row in rows) or "none"


def best_peer(rows, kind):
    """The narrowest way of another tool that covers in a kind, on average and short in no cell; or None."""
    own = [row for row in rows if row["cell"] == kind and not row["way"].startswith("steelyard")]
    short = {row["way"] for row in own if (one := average([row])) is None or one.below}
    known = {
        way: one
        for way, one in averages(own).items()
        if one and one.coverage_se <= SURE and one.refused <= _SELDOM
    }
    able = [one for way, one in known.items() if way not in short and one.coverage >= LEAST]
    return min(able, key=lambda one: one.width, default=None)


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
                f"{percent(ours.coverage, ours.coverage_se)} / {ours.width:.3f} / {ours.cost:.3f}",
                percent(plain.coverage, plain.coverage_se),
                "none"
                if best is None
                else f"{best.way}: {percent(best.coverage, best.coverage_se)} / {best.width:.3f} / {best.cost:.3f}",
                "" if best is None else f"{100 * (ours.width / best.width - 1):+.1f}%",
            ]
        )
    head = ["kind", DEFAULT, "plain t", "narrowest other tool that covers", "our width against it"]
    return table(head, body)


def narrower_peers(found):
    """Kinds in which a tool that covers is narrower than the default by more than a percent, each with the reason."""
    grouped = averages(kept(found), by=lambda row: (row["cell"], row["way"]))
    lines, alone, first = [], [], []
    for kind in KINDS:
        if (kind.name, DEFAULT) not in grouped:
            continue
        ours, best = grouped[kind.name, DEFAULT], best_peer(kept(found), kind.name)
        if best is None:
            alone.append(kind.name)
        elif ours.width <= (1 + _LESS) * best.width:
            first.append(kind.name)
        else:
            why = "; ".join(_reasons(best.way, kind.name)) or "not explained yet"
            lines.append(
                f"    - {kind.name}: {best.way} has {best.width:.3f}, we have {ours.width:.3f} "
                f"(coverage {percent(best.coverage)} and {percent(ours.coverage)}; error {best.cost:.3f} and {ours.cost:.3f}): {why}"
            )
    head = (
        f"- **Is another tool that covers narrower?** One that covers has at least 94% on average over {FROM} to 200 judgments and is clearly short with none of these numbers. No other tool covers in {_list(alone)}. "
        f"We are narrowest, or within a percent of it, in {_list(first)}. A peer is narrower in {len(lines)} kinds{':' if lines else '.'}"
    )
    return "\n".join([head, *lines])


def _reasons(way, kind):
    """Why a peer's way is narrow, and why ours is wide in a kind."""
    yield from (why for start, why in NARROWER.items() if way.startswith(start))
    if kind in LONGER:
        yield LONGER[kind]


def _list(names):
    if not names:
        return "no kind"
    return f"{len(names)} kinds ({', '.join(names)})" if names[1:] else f"one kind ({names[0]})"
