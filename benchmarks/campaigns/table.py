"""The table of all cells: three lines or more each, and what is missed."""

import numpy as np

from benchmarks.campaigns.figures import ratio
from benchmarks.campaigns.targets import worth_something

_HEAD = (
    "campaign",
    "who",
    "means: squared error",
    "width",
    "hold",
    "differences: squared error",
    "width",
    "hold",
    "all hold",
    "false claims",
    "refused",
    "seconds",
    "misses",
)


def head():
    return _line(_HEAD) + "\n" + _line(("---",) * len(_HEAD))


def lines(cell, rows, missed):
    """The lines of a cell, one for each contestant."""
    return "\n".join(_line(_words(cell, one, rows["old"], missed)) for one in rows.values())


def _words(cell, one, old, missed):
    return (
        cell.name,
        one.who,
        *_part(one.means, old.means if one.who == "new" else None, one.wilson),
        *_part(one.differences, old.differences if one.who == "new" else None),
        _percent(one.together),
        _percent(one.false_claims),
        _refused(one),
        "" if np.isnan(one.seconds) else f"{one.seconds:.3f}",
        "**" + "; ".join(missed) + "**" if missed and one.who == "new" else "",
    )


def _refused(one):
    if not one.refused:
        return ""
    return f"{100 * one.refused:.1f}" + (f" ({one.reason})" if one.reason else "")


def _part(part, old=None, wilson=None):
    if part is None:
        return "", "", ""
    error = _of(part.error)
    if old is not None and error:
        error += f" (of old {_of(ratio(part.squares, old.squares))})"
    width = _of(part.width)
    if wilson is not None and width:
        width += f" (of Wilson {_of(wilson)})"
    return error, width, _percent(part.holds)


def summary(cells):
    """What holds over all cells; `cells` are cells with their rows and what they miss."""
    said = []
    for name, most in (("means", None), ("differences", 0.92)):
        there = [
            (getattr(rows["new"], name), getattr(rows["old"], name))
            for _, rows, _ in cells
            if getattr(rows["new"], name) is not None
        ]
        against = [ratio(new.squares, old.squares).value for new, old in there]
        if not np.isnan(against).all():
            mark = _mark(most is not None and np.nanmean(against) > most, most)
            said.append(
                f"{name}: squared error of the new, mean over {len(against)} cells: {np.nanmean(against):.3f} of the old's{mark}"
            )
        widths = [
            getattr(rows["new"], name).width.value
            for cell, rows, _ in cells
            if worth_something(cell) and getattr(rows["new"], name) is not None
        ]
        if not np.isnan(widths).all():
            mark = _mark(np.nanmean(widths) > 0.84, 0.84)
            said.append(
                f"{name}: width of the new, mean over {len(widths)} cells with a good metric: {np.nanmean(widths):.3f} of plain t's{mark}"
            )
    missed = sum(bool(one) for *_, one in cells)
    said.append(f"{missed} of {len(cells)} cells miss a target")
    return "\n".join(f"- {one}" for one in said)


def _mark(missed, most):
    return f" **above {most:g}**" if missed else ""


def _of(figure):
    return "" if np.isnan(figure.value) else f"{figure.value:.2f} ± {figure.error:.2f}"


def _percent(figure):
    if figure is None or np.isnan(figure.value):
        return ""
    return f"{100 * figure.value:.1f} ± {100 * figure.error:.1f}"


def _line(words):
    return "| " + " | ".join(words) + " |"
