"""The figures of the page: coverage against width, and cost against judgments."""

import math

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

from benchmarks.honesty.summary import DEFAULT, LEAST, alike, averages
from steelyard.plots.style import BLUE, GREEN, GRID, INK, MUTED, ORANGE, styled

# One way of each tool, with a name that fits and a look that needs no colour.
SHOWN = {
    DEFAULT: ("steelyard", BLUE, "o"),
    "plain t": ("plain t", ORANGE, "s"),
    "scipy bootstrap (BCa)": ("scipy BCa", MUTED, "v"),
    "ppi-python ppi_mean_ci": ("ppi-python", GREEN, "^"),
    "truescore ppi_estimate": ("truescore", INK, "D"),
    "ssepy df, tuned": ("ssepy", GREEN, "P"),
    "potato ppi_mean": ("potato", ORANGE, "X"),
    "evalstats mean_ci": ("evalstats, scores", MUTED, "<"),
    "evalstats judge_debias_mean_ci": ("evalstats, judge", INK, ">"),
    "cje-eval calibrated_mean_ci": ("cje-eval", MUTED, "*"),
}


# The mean itself, at another width: nothing to see where only the error counts.
_PLAIN = ("scipy bootstrap (BCa)", "evalstats mean_ci")
# A cost that is not known so well is not drawn.
KNOWN = 0.025
# A panel is worth its room with so many tools.
_TOOLS = 5


def coverage_against_width(found, path, sizes=(10, 20, 50, 200)):
    """Draw, for some sizes, each tool's mean coverage against its mean width."""
    at = averages(alike(found, 0), by=lambda row: (row["way"], row["n"]))
    sizes = [n for n in sizes if sum(bool(at.get((way, n))) for way in SHOWN) >= _TOOLS]
    with styled():
        figure, [panels] = plt.subplots(
            1,
            len(sizes),
            figsize=(max(2.9 * len(sizes), 6.4), 4.1),
            layout="constrained",
            sharex=True,
            sharey=True,
            squeeze=False,
        )
        for axes, n in zip(panels, sizes, strict=True):
            axes.axhspan(100 * LEAST, 100, color=BLUE, alpha=0.07, linewidth=0)
            axes.axhline(95, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
            axes.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
            for way in reversed(SHOWN):
                _point(axes, way, at.get((way, n)))
            axes.set_title(f"{n} judgments per system")
            axes.set_xlabel("width, plain t = 1")
            axes.set_ylim(top=100)
            _frame(axes)
        panels[0].set_ylabel("coverage of 95% intervals, %")
        figure.legend(*_in_order(panels), loc="outside lower center", ncols=5)
        _save(figure, path)


def _point(axes, way, one):
    if one is None:
        return
    label, colour, mark = SHOWN[way]
    ours = way == DEFAULT
    axes.errorbar(
        one.width,
        100 * one.coverage,
        yerr=200 * one.coverage_se,
        fmt=mark,
        color=colour,
        markersize=9 if ours else 5.5,
        elinewidth=1.6 if ours else 0.7,
        zorder=4 if ours else 3,
        label=label,
    )


def _in_order(panels):
    """Handles and labels of all panels, each once, in the order of the tools."""
    found = {}
    for axes in panels:
        found |= {
            label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
    labels = [label for label, _, _ in SHOWN.values() if label in found]
    return [found[label] for label in labels], labels


def cost_against_judgments(found, path):
    """Draw each tool's share of judgments for equal error against the number of judgments."""
    at = averages(alike(found, 0), by=lambda row: (row["way"], row["n"]))
    with styled():
        figure, axes = plt.subplots(figsize=(7.4, 4.2), layout="constrained")
        for number, way in enumerate(SHOWN):
            points = sorted(
                (n, one.cost, 2 * one.cost_se)
                for (name, n), one in at.items()
                if name == way and one and one.cost_se <= KNOWN
            )
            if points and way not in _PLAIN:
                _costs(axes, way, points, shift=0.985 ** (number - 4))
        axes.set_xscale("log")
        sizes = sorted({n for _, n in at})
        axes.set_xticks(sizes, [str(n) for n in sizes])
        axes.minorticks_off()
        axes.set_ylim(0.76, 1.04)
        axes.set_xlabel("judgments per system")
        axes.set_ylabel("judgments for equal error, plain mean = 1")
        _frame(axes)
        figure.legend(*_in_order([axes]), loc="outside lower center", ncols=4)
        _save(figure, path)


def _costs(axes, way, points, *, shift):
    """One tool's line; a little aside of the others, so that all bars are seen."""
    label, colour, mark = SHOWN[way]
    ours, plain = way == DEFAULT, way == "plain t"
    sizes, costs, doubts = zip(*points, strict=True)
    axes.errorbar(
        sizes if ours or plain else [n * shift for n in sizes],
        costs,
        yerr=None if plain else doubts,
        marker=mark,
        color=colour,
        linewidth=2.4 if ours else 1,
        markersize=7 if ours else 4.5,
        elinewidth=1.6 if ours else 0.7,
        zorder=4 if ours else 3,
        label=label,
    )


# Jobs whose growth is drawn: what grows, and a short name of each.
GROWTH = {
    "outputs or rows": {
        "one system, arrays": "one system",
        "Parquet pool, three metrics": "Parquet pool",
        "score, Parquet": "score",
    },
    "systems": {"estimate": "estimate", "compare": "compare", "dashboard": "dashboard"},
}


def growth(results, path):
    """Draw processor time against the size of the work, ours filled and peers' hollow."""
    with styled():
        figure, panels = plt.subplots(1, 2, figsize=(8.7, 4.0), layout="constrained", sharey=True)
        for axes, (what, jobs) in zip(panels, GROWTH.items(), strict=True):
            for (job, name), colour, mark in zip(
                jobs.items(), (BLUE, ORANGE, GREEN), "os^", strict=True
            ):
                _line_of_each(axes, results, (job, name), colour, mark)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.xaxis.set_major_formatter(FuncFormatter(_power_of_ten))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.minorticks_off()
            axes.set_xlabel(what)
            axes.legend(loc="upper left", fontsize=8)
            _frame(axes)
        panels[0].set_ylabel("processor time, seconds")
        _save(figure, path)


def _power_of_ten(value, _):
    """As text: names are shown as they are in our figures, so formulas are not read."""
    return "10" + f"{round(math.log10(value))}".translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _line_of_each(axes, results, named, colour, mark):
    (job, name), lines = named, {}
    for record in results.of("speed"):
        if record["cell"] == job:
            lines.setdefault(record["who"], []).append((record["n"], record["seconds"]))
    for who, points in sorted(lines.items(), key=lambda line: line[0] != "steelyard"):
        ours = who == "steelyard"
        axes.plot(
            *zip(*sorted(points), strict=True),
            marker=mark,
            color=colour,
            markerfacecolor=colour if ours else "white",
            linestyle="-" if ours else (0, (3, 2)),
            label=name if ours else f"  {who.split(',')[0]}",
        )


def _frame(axes):
    axes.grid(color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
