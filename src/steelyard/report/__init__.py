"""Figures, and one self-contained HTML page about a study."""

from steelyard.report.efficiency_map import efficiency_map
from steelyard.report.forest import forest_plot
from steelyard.report.page import write_report
from steelyard.report.scatter import JudgedMetric, metric_plot
from steelyard.report.svg import inline_svg

__all__ = [
    "JudgedMetric",
    "efficiency_map",
    "forest_plot",
    "inline_svg",
    "metric_plot",
    "write_report",
]
