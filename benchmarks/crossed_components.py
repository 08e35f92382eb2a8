"""Crossed variance components by REML: a large campaign, and a small one against statsmodels."""

import resource
import sys

import numpy as np
import statsmodels.formula.api as smf
from pandas import DataFrame

from benchmarks.measuring import seconds
from steelyard.single.crossed import crossed_components


def campaign(judgments, outputs, raters):
    rng = np.random.default_rng(0)
    output = np.append(np.arange(outputs), rng.integers(0, outputs, size=judgments - outputs))
    rater = rng.integers(0, raters, size=judgments)
    human = (
        rng.normal(size=outputs)[output]
        + 0.5 * rng.normal(size=raters)[rater]
        + 1.2 * rng.normal(size=judgments)
    )
    return human, output, rater


def peer(human, output, rater):
    data = DataFrame({"y": human, "item": output, "rater": rater, "all": 1})
    model = smf.mixedlm(
        "y ~ 1",
        data,
        groups="all",
        re_formula="0",
        vc_formula={"item": "0 + C(item)", "rater": "0 + C(rater)"},
    )
    return model.fit(reml=True)


def row(name, sizes, elapsed, components, log_likelihood):
    item, leniency, residual = components
    print(
        f"{name:<12}{sizes[0]:>10,}{sizes[1]:>9,}{sizes[2]:>8,}{elapsed:>10.3f} s"
        f"{item:>9.4f}{leniency:>10.4f}{residual:>10.4f}{log_likelihood:>14.3f}"
    )


def main(small=(400, 150, 20), large=(100_000, 50_000, 1_000)):
    print(
        f"{'':<12}{'judgments':>10}{'outputs':>9}{'raters':>8}{'time':>12}"
        f"{'item':>9}{'leniency':>10}{'residual':>10}{'restricted ll':>14}"
    )
    data = campaign(*small)
    theirs = peer(*data)
    elapsed = seconds(lambda: peer(*data), repeats=3)
    row("statsmodels", small, elapsed, (*theirs.vcomp, theirs.scale), theirs.llf)
    for sizes in (small, large):
        data = campaign(*sizes)
        ours = crossed_components(*data)
        elapsed = seconds(lambda data=data: crossed_components(*data), repeats=3)
        components = (ours.item, ours.leniency, ours.residual)
        row("steelyard", sizes, elapsed, components, ours.log_likelihood)
    # Kilobytes on Linux, bytes on macOS; of the whole process, statsmodels included.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"peak memory of the process: {peak / (1e6 if sys.platform == 'darwin' else 1e3):,.0f} MB"
    )


if __name__ == "__main__":
    main()
