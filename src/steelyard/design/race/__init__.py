"""Races: which of several systems is best, or in which order they stand, known at every look."""

from steelyard.design.race.control import RaceControl
from steelyard.design.race.options import RaceGoal, RaceMethod, RaceOptions
from steelyard.design.race.outlook import expected_items
from steelyard.design.race.race import Race

__all__ = ["Race", "RaceControl", "RaceGoal", "RaceMethod", "RaceOptions", "expected_items"]
