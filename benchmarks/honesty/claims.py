"""What the results show of the default, cell by cell and kind by kind, in two sentences and one table."""

from benchmarks.honesty.kinds import BROKEN, KINDS
from benchmarks.honesty.summary import DEFAULT, FROM, LEAST, SURE, average, averages, kept
from benchmarks.honesty.table_text import percent, table

LEVEL, POINT = 0.95, 0.01
# A way that refuses more often is no rival: it answers only where it is easy.
_SELDOM = 0.02
# A draw of few outputs seldom has the tail that decides the mean.
LONG_TAILS = {"skewed", "curved"}


def off(rows):
    """Rows of the default whose coverage is below, and above, the level by more than a point and two standard errors."""
    below = [row for row in rows if row["coverage"] + 2 * row["coverage_se"] < LEVEL - POINT]
    above = [row for row in rows if row["coverage"] - 2 * row["coverage_se"] > LEVEL + POINT]
    return below, above


def default_rows(found, least=FROM):
    return [row for row in kept(found, least) if row["way"] == DEFAULT and "coverage" in row]


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
