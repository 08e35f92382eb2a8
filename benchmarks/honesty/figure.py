"""The figure of the page: coverage against width."""

import matplotlib.pyplot as plt

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
            axes.grid(color=GRID, linewidth=0.7)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("coverage of 95% intervals, %")
        figure.legend(*_in_order(panels), loc="outside lower center", ncols=5)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


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
