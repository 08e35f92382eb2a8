"""Figures and one self-contained HTML page."""

from steelyard.report.components import variance_plot
from steelyard.report.efficiency_map import efficiency_map
from steelyard.report.forest import forest_plot
from steelyard.report.scatter import JudgedMetric, metric_plot

__all__ = ["JudgedMetric", "efficiency_map", "forest_plot", "metric_plot", "variance_plot"]
