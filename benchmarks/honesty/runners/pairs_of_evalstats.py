"""evalstats: all pairs with its own choice of test, correction and simultaneous intervals."""

import warnings
from itertools import combinations

import evalstats as es
import numpy as np
from loop import serve

warnings.simplefilter("ignore")


def pairs(case):
    names = [f"s{number}" for number in range(case["human"].shape[1])]
    found = es.all_pairwise(case["human"].T, names, rng=np.random.default_rng(0))
    rows = []
    for a, b in combinations(names, 2):
        one = found.get(a, b)
        decided = np.sign(one.point_diff) * (one.p_value < 0.05)
        rows.append((one.ci_low, one.ci_high, decided))
    return rows


serve({"evalstats all_pairwise": pairs})
