"""The figures of the page: coverage against width, and cost against judgments."""

import matplotlib.pyplot as plt

from benchmarks.honesty.summary import DEFAULT, averages, kept
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


def coverage_against_width(found, path, sizes=(20, 50, 200)):
    """Draw, for some sizes, each tool's mean coverage against its mean width."""
    at = averages(kept(found), by=lambda row: (row["way"], row["n"]))
    sizes = [n for n in sizes if (DEFAULT, n) in at]
    with styled():
        figure, [panels] = plt.subplots(
            1,
            len(sizes),
            figsize=(max(2.9 * len(sizes), 6.4), 3.8),
            layout="constrained",
            sharex=True,
            sharey=True,
            squeeze=False,
        )
        for axes, n in zip(panels, sizes, strict=True):
            for way, (label, colour, mark) in SHOWN.items():
                one = at.get((way, n))
                if one is None:
                    continue
                axes.errorbar(
                    one.width,
                    100 * one.coverage,
                    yerr=200 * one.coverage_se,
                    fmt=mark,
                    color=colour,
                    markersize=6,
                    elinewidth=0.8,
                    label=label,
                )
            axes.axhline(95, color=INK, linewidth=0.8, linestyle=(0, (4, 2)))
            axes.set_title(f"{n} judgments per system")
            axes.set_xlabel("width, plain t = 1")
            _frame(axes)
        panels[0].set_ylabel("coverage of 95% intervals, %")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        _save(figure, path)


def cost_against_judgments(found, path):
    """Draw each tool's share of judgments for equal error against the number of judgments."""
    at = averages(kept(found, 0), by=lambda row: (row["way"], row["n"]))
    with styled():
        figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        for way, (label, colour, mark) in SHOWN.items():
            points = sorted(
                (n, one.cost, 2 * one.cost_se)
                for (name, n), one in at.items()
                if name == way and one
            )
            if not points or way in ("scipy bootstrap (BCa)", "evalstats mean_ci"):
                continue  # the plain mean
            sizes, costs, doubts = zip(*points, strict=True)
            axes.errorbar(
                sizes, costs, yerr=doubts, marker=mark, color=colour, elinewidth=0.8, label=label
            )
        axes.set_xscale("log")
        sizes = sorted({n for _, n in at})
        axes.set_xticks(sizes, [str(n) for n in sizes])
        axes.minorticks_off()
        axes.set_xlabel("judgments per system")
        axes.set_ylabel("judgments for equal error, plain mean = 1")
        _frame(axes)
        figure.legend(loc="outside lower center", ncols=4)
        _save(figure, path)


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
                _line_of_each(axes, results, job, name, colour, mark)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(what)
            axes.legend(loc="upper left", fontsize=8)
            _frame(axes)
        panels[0].set_ylabel("processor time, seconds")
        _save(figure, path)


def _line_of_each(axes, results, job, name, colour, mark):
    lines = {}
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
