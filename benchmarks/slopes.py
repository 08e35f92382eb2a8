"""Error and coverage of every slope at small samples, on simulated and on real campaigns.

The evidence behind docs/decisions/0001 and 0002. Real campaigns are the released judgments of
Chaganty et al. (2018), read from ../shared/paper when they are there: each system's judged outputs
serve as a pool, one judgment is drawn for each sampled output, and the truth is the mean of all.
"""

import json
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from steelyard import control_variates, judged_outputs

SLOPES = ("least-squares", "cross-fit", "shrunk", "pooled")
PAPER = Path(__file__).resolve().parents[2] / "shared" / "paper"
REAL = {"msmarco": ("AnyCorrect", "rouge-l"), "cnndm": ("hter", "sim")}


def main(runs=150):
    show("simulated: skewed, tied, ceiling and binary scores, noise ratio 1", simulated(), runs)
    if not PAPER.is_dir():
        print(f"no released data beside the project ({PAPER.name}): real campaigns left out")
        return
    show("real: 4 systems of MS MARCO (AnyCorrect, ROUGE-L)", real("msmarco"), runs)
    show("real: 4 systems of CNN/Daily Mail (Edit, VecSim)", real("cnndm"), runs)


def show(title, groups, runs):
    """Print the mean squared error over the plain mean's, and coverage at 95%."""
    print(f"\n{title}\n{'':24}" + "".join(f"{slope:>16}" for slope in ("plain", *SLOPES)))
    for label, campaigns in groups:
        for n in (10, 20, 30, 50):
            error, cover = replay(campaigns, n, runs)
            ratios = "".join(f"{error[s] / error['plain']:9.3f}/{cover[s]:.3f}" for s in error)
            print(f"{label:>12} n = {n:<3}  {ratios}", flush=True)


def replay(campaigns, n, runs):
    """Mean squared error (in units of each pool's variance) and coverage, slope by slope."""
    rng = np.random.default_rng(n)
    outcomes = {slope: [] for slope in ("plain", *SLOPES)}
    for systems in campaigns:
        for _ in range(runs):
            samples = [draw(system, n, rng) for system in systems]
            for number, (pool, judged) in enumerate(systems):
                human, metric, items = samples[number]
                if np.ptp(human) == 0:
                    continue
                truth = judged.mean()
                others = [judged_outputs(*s) for k, s in enumerate(samples) if k != number]
                for slope in SLOPES:
                    got = control_variates(
                        human, metric, pool, items=items, slope=slope, others=others
                    )
                    outcomes[slope].append(outcome(got, truth, judged.var()))
                outcomes["plain"].append(outcome(got.baseline, truth, judged.var()))
    means = {slope: np.mean(rows, axis=0) for slope, rows in outcomes.items()}
    return {s: m[0] for s, m in means.items()}, {s: m[1] for s, m in means.items()}


def outcome(got, truth, unit):
    return (got.estimate - truth) ** 2 / unit, got.low <= truth <= got.high


def draw(system, n, rng):
    """Sample outputs without replacement, and one of the judgments of each."""
    pool, judgments = system
    items = rng.choice(len(pool), n, replace=False)
    column = rng.integers(judgments.shape[1], size=n)
    return judgments[items, column], pool[items], items


def simulated(size=500, systems=5, judgments=40):
    """Campaigns of five systems; judgments are thresholds or powers of a noisy latent quality."""
    rng = np.random.default_rng(1)
    groups = []
    for correlation in (0.0, 0.2, 0.4, 0.7):
        campaigns = []
        for kind in (np.exp, levels(-1.5, -0.9, -0.2, 0.5), levels(-1.6, -0.9), levels(0.3)):
            pools = []
            for _ in range(systems):
                metric = rng.normal(size=size)
                rest = np.sqrt(1 - correlation**2) * rng.normal(size=size)
                latent = np.sqrt(0.5) * (correlation * metric + rest)
                noise = np.sqrt(0.5) * ndtri((np.arange(judgments) + 0.5) / judgments)
                pools.append((metric, kind(latent[:, None] + noise)))
            campaigns.append(pools)
        groups.append((f"rho {correlation}", campaigns))
    return groups


def levels(*cuts):
    return lambda felt: (felt[..., None] > np.array(cuts)).sum(axis=-1).astype(float)


def real(task):
    """One campaign of the four systems, from the released judgments."""
    prompt, metric = REAL[task]
    found = {}
    for line in (PAPER / f"{task}.jsonl").read_text().splitlines():
        row = json.loads(line)
        scores = row["prompts"][prompt]
        if row["system"] != "reference":
            found.setdefault(row["system"], []).append((scores[metric], scores["human"]))
    systems = []
    for rows in found.values():
        fewest = min(len(human) for _, human in rows)
        judgments = np.array([human[:fewest] for _, human in rows])
        systems.append((np.array([value for value, _ in rows]), judgments))
    return [(prompt, [systems])]


if __name__ == "__main__":
    main()
