"""potato-annotation: the estimate of its labelling engine's contract "ppi", at the first look and alone.

The contract reads labels as texts and takes the range of a numeric scale from the list of labels.
"""

import numpy as np
from loop import serve
from potato.labeling_engine.contracts.ppi import ppi_mean
from potato.labeling_engine.contracts.stats import look_alpha


def at_level(level):
    def way(case):
        low, high = case["bounds"]
        scale = 1.0 if np.isnan(low) else high - low
        got = ppi_mean(
            case["human"], case["pool"][case["chosen"]], case["pool"], level, value_range=scale
        )
        return got["estimate"], got["lo"], got["hi"]

    return way


serve(
    {
        "potato ppi contract, first look": at_level(1 - look_alpha(0.05, 1)),
        "potato ppi_mean": at_level(0.95),
    }
)
