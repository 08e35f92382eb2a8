"""What the results show of the default, cell by cell and kind by kind, in sentences and one table."""

from benchmarks.honesty.kinds import BROKEN, KINDS
from benchmarks.honesty.summary import DEFAULT, FROM, average, averages, kept
from benchmarks.honesty.table_text import percent, table

LEVEL, POINT = 0.95, 0.01
# Widths differ if one is this much less than the other.
_LESS = 0.01
# Why coverage is off in a kind, and why a peer that covers is narrower there. Only said where it is so.
_SKEWED = (
    "the long tail is seldom drawn, and then all systems on the same items miss it together "
    "([measured below](#why-skewed-scores-fall-short)); plain t falls short by more"
)
OFF = {"skewed": _SKEWED, "curved": _SKEWED}
_TOLD = (
    "it is told the ends of the scale, and takes for granted that the metric is on that scale, so that its slope lies between 0 and 1. Both are so here. "
    "The default is told neither, and lengthens intervals where residuals are skewed."
)
_TRUST = (
    "it trusts its one metric from the first judgment on, and here that is right. The default first asks whether a metric is of use, and few systems answer "
    "slowly. Where metrics are useless, the same tools have more error than the plain mean."
)
_QUANTILES = (
    "it takes normal quantiles, 0.94 of Student's at 20 judgments, or the finite-pool correction as if judgments had no noise. This is why it holds the truth less "
    "often; it counts as covering because it is within a point of the level."
)
_ONE = "it is given the one useful metric. The default gets three and has to find it beside one with wild outliers."
_TIES = (
    "few judgments differ from the rest, and these decide the mean. The default allows for those that a draw has missed; the other covers on average, but holds "
    "the truth less often with few judgments."
)
NARROWER = {
    "normal": _QUANTILES,
    "skewed": _TIES,
    "ceiling": _TOLD,
    "binary": _TOLD,
    "three levels": _TOLD,
    "curved": _TIES,
    "heavy ties": _TIES,
    "good judge": _QUANTILES,
    "useless metrics": _QUANTILES,
    "many weak metrics": _QUANTILES,
    "adversarial metrics": _ONE,
    "own items": _QUANTILES,
    "one system": _TRUST,
    "one system, binary": _TRUST,
    "two systems": _TRUST,
    "twelve systems": _TOLD,
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
    why = [f"    - {kind}: {text}" for kind, text in OFF.items() if _in(kind, (*below, *above))]
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
    able = [one for way, one in averages(own).items() if way not in short and one.covers]
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
            why = NARROWER.get(kind.name, "not explained yet")
            lines.append(
                f"    - {kind.name}: {best.way} has {best.width:.3f}, we have {ours.width:.3f} "
                f"(coverage {percent(best.coverage)} and {percent(ours.coverage)}; error {best.cost:.3f} and {ours.cost:.3f}): {why}"
            )
    head = (
        f"- **Is another tool that covers narrower?** One that covers does so on average over {FROM} to 200 judgments and falls short with none of these numbers. No other tool covers in {_list(alone)}. "
        f"We are narrowest, or within a percent of it, in {_list(first)}. A peer is narrower in {len(lines)} kinds{':' if lines else '.'}"
    )
    return "\n".join([head, *lines])


def _list(names):
    if not names:
        return "no kind"
    return f"{len(names)} kinds ({', '.join(names)})" if names[1:] else f"one kind ({names[0]})"
