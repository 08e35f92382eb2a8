"""What to decide before and while collecting: how many, which, and when to stop."""

from steelyard.design.assumptions import Assumptions, Prices
from steelyard.design.planning import Case, Plan, plan

__all__ = ["Assumptions", "Case", "Plan", "Prices", "plan"]
