"""What ``plan`` prints."""

from steelyard.questions.plans import Plan

__all__ = ["PlanForm"]

PlanForm = Plan
