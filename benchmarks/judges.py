"""Whether `diagnose` names the biases of made judges: which are there, how large, and how often none is made up.

``python -m benchmarks.judges [REPLAYS]``: campaigns of five systems and 400 items, 100 judged items, eight
lenient and strict raters, a second judgment of every fifth output, and a judge with one bias of 0.2 or 0.3
standard deviations of the judgments. The truth is that of each campaign's own pools.
"""

import sys
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy.stats import norm

from steelyard.study import Study

SYSTEMS = tuple("ABCDE")
ITEMS, RATERS = 400, 8
LENIENCY = 0.25
# Standard deviation of the noise of one judgment, and of the outputs of a system, before rounding.
NOISE, SPREAD = 0.7, 0.75


@dataclass(frozen=True)
class World:
    """One kind of judge; sizes are in standard deviations of the judgments of a system.

    `long` is what one more standard deviation of words adds, `favourite` what the last system gets,
    `family` what the last two get, `scale` what a difference of 1 becomes, `noise` the judge's own.
    """

    name: str
    long: float = 0.0
    favourite: float = 0.0
    family: float = 0.0
    scale: float = 1.0
    noise: float = 0.5
    votes: bool = False
    judged: int = 100
    same_items: bool = True


WORLDS = (
    World("no bias"),
    World("length 0.2", long=0.2),
    World("favourite 0.2", favourite=0.2),
    World("favourite 0.3", favourite=0.3),
    World("self-preference 0.2", family=0.2),
    World("self-preference 0.3", family=0.3),
    World("compressed to 0.6", scale=0.6),
    World("noise", noise=1.2),
    World("own items, no bias", same_items=False),
    World("own items, favourite 0.3", favourite=0.3, same_items=False),
    World("pass/fail, no bias", votes=True),
    World("pass/fail, length 0.2", votes=True, long=0.2),
    World("pass/fail, favourite 0.3", votes=True, favourite=0.3),
)


@dataclass(frozen=True, eq=False)
class Made:
    """A made campaign, and the truth about its judge."""

    study: Study
    truth: dict


def levels(latent, votes):
    """Return latent scores on the scale: 1 to 5, or fail and pass."""
    return (latent > 0).astype(float) if votes else np.clip(np.round(3 + latent), 1, 5)


def mean_level(latent, spread, votes):
    """Return the mean score of a latent one with normal noise."""
    if votes:
        return norm.cdf(latent / spread)
    cuts = np.array([-1.5, -0.5, 0.5, 1.5])
    return 1 + norm.sf((cuts[:, None, None] - latent) / spread).sum(axis=0)


def made(world, rng):
    """Return one campaign."""
    k = len(SYSTEMS)
    level = 0.4 * rng.standard_normal(k)
    item = 0.5 * rng.standard_normal(ITEMS)
    latent = level[:, None] + SPREAD * (
        np.sqrt(0.4) * item / 0.5 + np.sqrt(0.6) * rng.standard_normal((k, ITEMS))
    )
    words = rng.standard_normal((k, ITEMS))
    unit = np.sqrt(SPREAD**2 + NOISE**2 + LENIENCY**2)
    view = world.scale * (latent - level.mean()) + level.mean() + world.long * unit * words
    view += unit * np.array([0, 0, 0, world.family, world.family + world.favourite])[:, None]
    judge = levels(view + world.noise * rng.standard_normal(view.shape), world.votes)
    human = mean_level(latent, np.sqrt(NOISE**2 + LENIENCY**2), world.votes)
    length = np.round(50 * np.exp(0.3 * words))
    leniency = LENIENCY * rng.standard_normal(RATERS)
    rows = []
    shared = rng.permutation(ITEMS)[: world.judged]
    for s, name in enumerate(SYSTEMS):
        chosen = shared if world.same_items else rng.permutation(ITEMS)[: world.judged]
        for place, one in enumerate(chosen):
            who = rng.permutation(RATERS)[: 2 if place % 5 == 0 else 1]
            noisy = latent[s, one] + leniency[who] + NOISE * rng.standard_normal(len(who))
            scores = levels(noisy, world.votes)
            rows += [(f"i{one}", name, f"r{r}", float(y)) for r, y in zip(who, scores, strict=True)]
    outputs = pl.DataFrame(
        {
            "item": [f"i{one}" for _ in SYSTEMS for one in range(ITEMS)],
            "system": np.repeat(SYSTEMS, ITEMS),
            "judge": judge.ravel(),
            "length": length.ravel(),
        }
    )
    judgments = pl.DataFrame(rows, ["item", "system", "rater", "score"], orient="row")
    judgments = judgments.with_columns(prompt=pl.lit("p"))
    return Made(Study.read(outputs, judgments, metrics=["judge"]), truth(judge, human, length))


def truth(judge, human, length):
    """Return what is true of the judge over the pools."""
    g, h, x = (one - one.mean(axis=1, keepdims=True) for one in (judge, human, length))
    signal, both = np.mean(h**2), np.mean(g * h)
    k = len(judge)
    apart = np.array([[k * (a == b) - 1 for b in range(k)] for a in range(k)]) / (k - 1)
    a = np.array([[signal, np.mean(h * x)], [np.mean(h * x), np.mean(x**2)]])
    slope = np.linalg.solve(a, [both, np.mean(g * x)])
    own = np.array([-1 / 3, -1 / 3, -1 / 3, 0.5, 0.5])
    off = signal / both * judge.mean(axis=1) - human.mean(axis=1)
    return {
        "correlation": both / np.sqrt(signal * np.mean(g**2)),
        "scale": both / signal,
        "length": slope[1] * x.std() / slope[0],
        "offsets": apart @ off,
        "family": own @ off,
    }


def replay(world, rng):
    """Return what one campaign's diagnosis names, and which intervals hold."""
    campaign = made(world, rng)
    [found] = campaign.study.diagnose(against=["length"], own=["D", "E"])
    [one] = found.judges
    [length] = one.biases
    true = campaign.truth
    holds = {
        "correlation": inside(one.correlation, true["correlation"]),
        "scale": inside(one.scale, true["scale"]) if one.scale else np.nan,
        "length": inside(length.bias, true["length"]),
        "offsets": np.mean(
            [inside(each.offset, t) for each, t in zip(one.offsets, true["offsets"], strict=True)]
        ),
        "family": inside(one.self_preference, true["family"]),
    }
    named = {
        "length": length.is_clear,
        "favourite": one.offsets[-1].is_clear,
        "any system": any(each.is_clear for each in one.offsets),
        "family": one.self_preference.excludes_zero,
        "compressed": one.is_compressed,
    }
    return holds, named


def inside(found, true):
    """Whether an interval holds the truth."""
    return found.low <= true <= found.high


def table(world, replays, seed=0):
    """Return the shares of campaigns in which intervals hold and biases are named."""
    rng = np.random.default_rng([seed, len(world.name)])
    found = [replay(world, rng) for _ in range(replays)]
    holds = {name: np.mean([one[name] for one, _ in found]) for name in found[0][0]}
    named = {name: np.mean([one[name] for _, one in found]) for name in found[0][1]}
    return holds, named


def main(replays=100, more=()):
    names = ("correlation", "scale", "length", "offsets", "family")
    biases = ("length", "favourite", "any system", "family", "compressed")
    print(f"{replays} campaigns of each kind; per cent")
    print(f"{'':28}{'95% intervals hold':^45}   {'named'}")
    print(f"{'':28}" + "".join(f"{one[:8]:>9}" for one in names), end="   ")
    print("".join(f"{one[:10]:>11}" for one in biases))
    for world in (*WORLDS, *more):
        holds, named = table(world, replays)
        print(f"{world.name:28}" + "".join(f"{100 * holds[one]:9.0f}" for one in names), end="   ")
        print("".join(f"{100 * named[one]:11.0f}" for one in biases), flush=True)


if __name__ == "__main__":
    chosen = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    frontier = [
        replace(WORLDS[2], name=f"favourite {size}, {n} judged", favourite=size, judged=n)
        for size, n in ((0.4, 100), (0.2, 200), (0.2, 300))
    ]
    main(chosen, frontier)
