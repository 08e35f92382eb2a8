"""What the default promises of a cell, and where it misses it by more than two standard errors."""

from benchmarks.campaigns.figures import OWN, ratio

# What no good metric sees: worthless metrics, yes or no near 0, and judgments that are nearly all equal.
WORTHLESS = ("useless", "rare", "equal", "nearly-equal", "adversarial", "weak-metrics", "huge")
_LONG_TAILED = ("skewed", "rare", "ceiling", "shape-skewed", "shape-ceiling", "huge")
_NEARLY_EQUAL = ("equal", "nearly-equal")
_SHARES = ("shares-middle", "shares-ceiling")
_TASTE = ("taste", "taste-own-raters", "no-taste")


def worth_something(cell):
    """Whether a metric of the cell is good."""
    return cell.p > 0 and cell.shape not in WORTHLESS


def misses(cell, rows):
    """What the new tree misses in a cell, as words; `rows` by contestant."""
    new, old, plain = rows["new"], rows["old"], rows["t"]
    found = _of_part(cell, "means", new.means, old.means, plain.means)
    if new.differences is not None:
        found += _of_part(cell, "differences", new.differences, old.differences, plain.differences)
    if new.false_claims is not None and new.false_claims.surely_above(0.05):
        found.append("false claims in more than 5%")
    if cell.shape in _SHARES:
        if new.wilson is not None and new.wilson.surely_above(1.1):
            found.append("width above 1.1 of Wilson's")
        if new.outside:
            found.append(f"{100 * new.outside:.1f}% of intervals end outside 0 to 1")
    own = rows.get("new" + OWN)
    # What older judgments save is promised for a new version that is judged little, and has metrics.
    promised = own is not None and cell.n <= 20 and cell.p > 0
    if promised and ratio(new.means.squares, own.means.squares).surely_above(0.75):
        found.append("squared error above 0.75 of that by its own judgments")
    if new.refused > old.refused:
        found.append("more refused than by the old")
    if new.died:
        found.append(f"the process died in replays {', '.join(map(str, new.died))}")
    return found


def _of_part(cell, name, new, old, plain):
    """What means or differences miss."""
    most = _most_error(cell, name)
    least, greatest = _coverage(cell, name)
    told = (
        (new.error.surely_above(most), f"squared error above {most:g}"),
        (ratio(new.squares, old.squares).surely_above(1.02), "squared error above 1.02 of the old"),
        (new.holds.surely_below(least), f"hold in less than {100 * least:g}%"),
        (new.holds.surely_above(greatest), f"hold in more than {100 * greatest:g}%"),
        (
            cell.shape in _LONG_TAILED and ratio(new.held, plain.held).surely_below(1),
            "hold less often than t",
        ),
    )
    return [f"{name}: {words}" for missed, words in told if missed]


def _most_error(cell, name):
    """The greatest squared error relative to plain t; the good metric of `normal` has a correlation of 0.6."""
    if cell.shape == "normal" and cell.p > 0 and cell.n >= 20 and cell.k >= 5:
        return 0.82 if name == "means" else 0.75
    return 1.02


def _coverage(cell, name):
    """The least and the greatest share of intervals that may hold."""
    if cell.shape in _NEARLY_EQUAL:
        return 0.94, 1.0
    if cell.shape in _TASTE and name == "differences":
        return 0.93, 1.0
    if cell.n < 20:
        return (0.925 if name == "means" else 0.93), 1.0
    if cell.shape in _LONG_TAILED:
        return (0.0 if cell.shape == "huge" else 0.93), 1.0
    return 0.94, 0.97
