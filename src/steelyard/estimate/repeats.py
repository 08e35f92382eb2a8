"""What outputs with two judgments or more tell of the rater variance, as `variance` has it."""

from steelyard.single.repeats import FEW_REPEATS, Repeats

__all__ = ["FEW_REPEATS", "Repeats"]
