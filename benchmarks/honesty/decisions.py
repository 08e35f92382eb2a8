"""Honesty of decisions: wrong claims, wrong winners, decided pairs, and joint coverage of all pairs.

The same items are judged for all systems, once each. A way gives for every pair an interval and a claim:
the first is better, the second is, or nothing. Sets of ranks follow from the claims, and all hold
exactly if no claim is wrong.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from scipy.stats import t as student
from scipy.stats import ttest_rel

from benchmarks.honesty.drawn_cases import SEED, short
from benchmarks.honesty.kinds import Kind, campaign, equal_campaign
from benchmarks.honesty.ours import plain_t, study
from benchmarks.honesty.peers import PEERS, Asked
from benchmarks.honesty.systems import drawn
from steelyard.errors import SteelyardError
from steelyard.version import __version__

PART = "decisions"
SIZES = (20, 50, 100)
_RESAMPLES = 1000
# Ours decides more often than quick peers, and a slow peer a fraction as often.
_MORE, _SLOWER = 5, 8
# Runners of the peers that decide between systems.
RUNNERS = {"evalstats": "pairs_of_evalstats.py", "truescore": "pairs_of_truescore.py"}


@dataclass(frozen=True)
class Contest:
    """Systems of one kind, each `gap` deviations of quality below the one before, or all below the first."""

    kind: Kind
    gap: float
    shape: str = "equal"

    @property
    def name(self):
        return f"{self.kind.name}: {self.shape}" + (f" by {self.gap:g}" if self.gap else "")

    def systems(self, rng):
        if not self.gap:
            return equal_campaign(self.kind, rng)
        steps = np.arange(self.kind.systems)
        return campaign(
            self.kind, rng, -self.gap * (steps if self.shape == "ladder" else steps > 0)
        )


CONTESTS = (
    Contest(Kind("five, normal", systems=5), 0),
    Contest(Kind("five, binary", "binary", systems=5), 0),
    Contest(Kind("five, skewed", "skewed", systems=5), 0),
    Contest(Kind("ten, heavy ties", "ties", systems=10), 0),
    Contest(Kind("two, normal", systems=2), 0.3, "ladder"),
    Contest(Kind("five, normal", systems=5), 0.25, "ladder"),
    Contest(Kind("five, three levels", "three-level", systems=5), 0.25, "ladder"),
    Contest(Kind("ten, normal", systems=10), 0.4, "one ahead"),
)


def cells(runs, *, contests=CONTESTS, sizes=SIZES, peers=PEERS):
    """What there is to do, ours first: a key, how many runs, the version, and the work."""
    for peer in (None, *(one for one in peers if one.package in RUNNERS)):
        who, version = ("steelyard", __version__) if peer is None else (peer.package, peer.version)
        for n in sizes:
            for contest in contests:
                number = runs if peer is None or peer.share == 1 else max(runs // _SLOWER, 1)
                number *= _MORE if peer is None else 1
                key = {"part": PART, "cell": contest.name, "n": n, "who": who}
                yield (
                    key | {"runs": number, "seed": SEED, "version": version},
                    (cell, contest, n, number, peer),
                )


def replays(contest, n, runs, *, seed=SEED):
    for run in range(runs):
        rng = contest.kind.rng(n, run, round(100 * contest.gap), seed=seed)
        yield drawn(contest.systems(rng), n, shared=True, rng=rng)


@cache
def _asked(peer):
    return Asked(peer, RUNNERS[peer.package])


def cell(contest, n, runs, peer=None):
    """Counts of every way in one cell, ours or a peer's."""
    draws = list(replays(contest, n, runs))
    truth = np.array([[one.system.truth for one in draw] for draw in draws])
    if peer is None:
        found, refused = {way: np.array([make(d) for d in draws]) for way, make in WAYS.items()}, {}
        seconds = 0.0
    else:
        found, refused = _asked(peer).answers(_arrays(draws))
        seconds = _asked(peer).seconds
    wide = width(np.array([bonferroni_t(draw) for draw in draws]))
    ways = {way: counted(got, truth, wide) for way, got in found.items()}
    for way, why in refused.items():
        ways[way]["why_refused"] = why
    return {"ways": ways, "seconds": seconds}


def _arrays(draws):
    """What a peer sees: scores (n, k) of each campaign, and the first metric of all outputs."""
    return {
        "human": np.array([np.stack([one.human for one in draw], axis=1) for draw in draws]),
        "chosen": np.array([draw[0].chosen for draw in draws]),
        "pool": np.array([[one.system.metrics[:, 0] for one in draw] for draw in draws]).swapaxes(
            1, 2
        ),
        "bounds": np.full(2, np.nan),
    }


def width(found):
    return float(np.mean(found[..., 1] - found[..., 0]))


def counted(found, truth, wide):
    """Wrong claims, decided pairs, winners and joint coverage, of answers (runs, pairs, 3)."""
    known = ~np.isnan(found).any(axis=(1, 2))
    found, truth = found[known], truth[known]
    if not known.any():
        return {"refused": 1.0}
    pairs = list(combinations(range(truth.shape[1]), 2))
    first, second = (np.array(ends) for ends in zip(*pairs, strict=True))
    difference = truth[:, first] - truth[:, second]
    difference[np.abs(difference) < 1e-3] = 0.0
    claim = found[..., 2]
    wrong = ((claim != 0) & (claim != np.sign(difference))).any(axis=1)
    held = ((found[..., 0] <= difference) & (found[..., 1] >= difference)).all(axis=1)
    winner = np.array([_winner(row, pairs, truth.shape[1]) for row in claim])
    best = truth[np.arange(len(truth)), winner] >= truth.max(axis=1) - 1e-3
    real = difference != 0
    return {
        "refused": short(1 - known.mean()),
        "wrong_claims": short(wrong.mean()),
        "joint_coverage": short(held.mean()),
        "decided": short((claim[real] != 0).mean()) if real.any() else None,
        "winner": short((winner >= 0).mean()),
        "wrong_winner": short(((winner >= 0) & ~best).mean()),
        "width_ratio": short(width(found) / wide),
    }


def _winner(claim, pairs, systems):
    """The system that is claimed to beat all others, or -1."""
    wins = np.zeros(systems, dtype=int)
    for (a, b), sign in zip(pairs, claim, strict=True):
        if sign:
            wins[a if sign > 0 else b] += 1
    return int(np.argmax(wins)) if wins.max() == systems - 1 else -1


def _pairs(draw):
    return list(combinations([one.human for one in draw], 2))


def compare(draw):
    """`Study.compare` as it is by default."""
    try:
        [found] = study(draw).compare()
    except SteelyardError:
        return np.full((len(draw) * (len(draw) - 1) // 2, 3), np.nan)
    by_pair = {(one.a, one.b): one for one in found.pairs}
    rows = []
    for a, b in combinations([f"s{number}" for number in range(len(draw))], 2):
        one, sign = (by_pair[a, b], 1) if (a, b) in by_pair else (by_pair[b, a], -1)
        low, high = sorted((sign * one.simultaneous_low, sign * one.simultaneous_high))
        rows.append((low, high, sign * {"a": 1, "b": -1}.get(one.verdict, 0)))
    return rows


def bonferroni_t(draw):
    """Paired t tests with Holm's correction, and Bonferroni's intervals."""
    pairs = _pairs(draw)
    n, m = len(pairs[0][0]), len(pairs)
    reach = student.ppf(1 - 0.025 / m, n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.nan_to_num([ttest_rel(a, b).pvalue for a, b in pairs], nan=1.0)
    clear = _holm(p)
    rows = []
    for (a, b), sure in zip(pairs, clear, strict=True):
        rest = a - b
        error = rest.std(ddof=1) / np.sqrt(n)
        mean = rest.mean()
        rows.append((mean - reach * error, mean + reach * error, np.sign(mean) * sure))
    return rows


def _holm(p):
    """Which hypotheses Holm's step-down procedure rejects at 5%."""
    order = np.argsort(p)
    passed = np.cumprod(p[order] <= 0.05 / (len(p) - np.arange(len(p))))
    clear = np.zeros(len(p), dtype=bool)
    clear[order] = passed.astype(bool)
    return clear


def paired_bootstrap(draw):
    """Paired bootstrap test with sacrebleu's p-value, pair by pair; percentile intervals."""
    rng = np.random.default_rng(0)
    n = len(draw[0].human)
    chosen = rng.integers(n, size=(_RESAMPLES, n))
    rows = []
    for a, b in _pairs(draw):
        again = (a - b)[chosen].mean(axis=1)
        size = np.abs(again)
        p = (np.sum(size - size.mean() > abs((a - b).mean())) + 1) / (_RESAMPLES + 1)
        low, high = np.quantile(again, [0.025, 0.975])
        rows.append((low, high, np.sign((a - b).mean()) * (p < 0.05)))
    return rows


def overlap(draw):
    """A claim where two systems' 95% t intervals do not overlap; the interval is their difference."""
    rows = []
    for a, b in combinations([plain_t(one) for one in draw], 2):
        low, high = a[1] - b[2], a[2] - b[1]
        rows.append((low, high, 1 if low > 0 else -1 if high < 0 else 0))
    return rows


WAYS = {
    "steelyard compare": compare,
    "paired t, Holm": bonferroni_t,
    "paired bootstrap (sacrebleu)": paired_bootstrap,
    "overlap of t intervals": overlap,
}
