"""What to decide before collecting: how many, and which."""

from steelyard.design.assumptions import Assumptions, Prices, Values
from steelyard.design.difference_interval import Pair
from steelyard.design.planned_raters import PlannedRaters
from steelyard.design.planning import Case, Plan, plan
from steelyard.design.sampling import Design, Draw, draw_sample
from steelyard.design.shown_interval import Judged
from steelyard.design.strata import quantile_strata

__all__ = [
    "Assumptions",
    "Case",
    "Design",
    "Draw",
    "Judged",
    "Pair",
    "Plan",
    "PlannedRaters",
    "Prices",
    "Values",
    "draw_sample",
    "plan",
    "quantile_strata",
]
