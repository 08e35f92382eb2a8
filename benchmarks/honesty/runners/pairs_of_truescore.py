"""truescore: judge-corrected differences of all pairs, with its Holm correction; intervals hold one by one."""

from itertools import combinations

import numpy as np
from loop import serve
from truescore import holm, ppi_compare


def pairs(case):
    human, pool, chosen = case["human"], case["pool"], case["chosen"]
    found = [
        ppi_compare(pool[:, a], pool[:, b], human[:, a], human[:, b], chosen)
        for a, b in combinations(range(human.shape[1]), 2)
    ]
    adjusted = holm([one.p_value for one in found])
    return [
        (one.low, one.high, np.sign(one.difference) * (p < 0.05))
        for one, p in zip(found, adjusted, strict=True)
    ]


serve({"truescore ppi_compare, Holm": pairs})
