"""What to decide before and while collecting: how many, which, and when to stop."""

from steelyard.design.assumptions import Assumptions, Prices
from steelyard.design.difference_interval import Pair, PairRaters
from steelyard.design.planning import Case, Plan, plan
from steelyard.design.sampling import Design, Draw, draw_sample
from steelyard.design.sequence import ConfidenceSequence
from steelyard.design.strata import quantile_strata

__all__ = [
    "Assumptions",
    "Case",
    "ConfidenceSequence",
    "Design",
    "Draw",
    "Pair",
    "PairRaters",
    "Plan",
    "Prices",
    "draw_sample",
    "plan",
    "quantile_strata",
]
