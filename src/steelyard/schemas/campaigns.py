"""What ``plan`` prints."""

from steelyard.questions.planned import Plan

__all__ = ["PlanForm"]

PlanForm = Plan
