"""What a textbook gives: Student's t of each system, paired t or Welch's t of each pair, Wilson's interval of shares."""

from itertools import combinations

import numpy as np
from scipy.stats import norm, t


def answer(campaign, level=0.95):
    """The same arrays as `runner.answer`, with Bonferroni's simultaneous intervals, and Wilson's widths."""
    k = len(campaign.metrics)
    judged = [_outputs(campaign, one) for one in range(k)]
    pairs = list(combinations(range(k), 2))
    means = np.array([_mean(scores, level) for _, scores in judged])
    differences = [_difference(judged[a], judged[b], level, len(pairs)) for a, b in pairs]
    return {
        "means": means,
        "differences": np.array(differences).reshape(len(pairs), 6),
        "refused": [],
        "seconds": np.nan,
        "wilson": _wilson(campaign, [scores for _, scores in judged], level),
    }


def _outputs(campaign, system):
    """Items of the judged outputs of a system, and the mean judgment of each."""
    mine = campaign.system == system
    items, place = np.unique(campaign.item[mine], return_inverse=True)
    return items, np.bincount(place, campaign.score[mine]) / np.bincount(place)


def _mean(scores, level):
    n = len(scores)
    if n < 2:
        return np.full(4, np.nan)
    error = scores.std(ddof=1) / np.sqrt(n)
    reach = t.ppf((1 + level) / 2, n - 1) * error
    return np.array([scores.mean(), scores.mean() - reach, scores.mean() + reach, error])


def _difference(a, b, level, pairs):
    common, in_a, in_b = np.intersect1d(a[0], b[0], return_indices=True)
    sizes = len(a[0]), len(b[0])
    if min(sizes) < 2:
        return np.full(6, np.nan)
    # On their own items systems share some by accident only.
    if len(common) == min(sizes):
        apart = a[1][in_a] - b[1][in_b]
        difference, error = apart.mean(), apart.std(ddof=1) / np.sqrt(len(apart))
        freedom = len(apart) - 1
    else:
        parts = np.array([one.var(ddof=1) / len(one) for _, one in (a, b)])
        difference, error = a[1].mean() - b[1].mean(), np.sqrt(parts.sum())
        spread = (parts**2 / (np.array(sizes) - 1)).sum()
        freedom = parts.sum() ** 2 / spread if spread > 0 else min(sizes) - 1
    one, all_pairs = t.ppf(1 - (1 - level) / 2 / np.array([1, pairs]), freedom) * error
    verdict = np.sign(difference) if abs(difference) > all_pairs else 0
    ends = one * np.array([-1, 1]), all_pairs * np.array([-1, 1])
    return np.array([difference, *(difference + ends[0]), *(difference + ends[1]), verdict])


def _wilson(campaign, scores, level):
    """Widths of Wilson's intervals, where all judgments are 0 or 1; else NaN."""
    if not np.isin(campaign.score, (0, 1)).all():
        return np.full(len(scores), np.nan)
    share, n = np.array([(one.mean(), len(one)) for one in scores]).T
    z2 = norm.ppf((1 + level) / 2) ** 2
    return 2 * np.sqrt(z2) / (1 + z2 / n) * np.sqrt(share * (1 - share) / n + z2 / (4 * n**2))
