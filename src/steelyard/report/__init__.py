"""Figures, and one self-contained HTML page about a study."""

from steelyard.report.forest import forest_plot
from steelyard.report.page import write_report
from steelyard.report.scatter import JudgedMetric, metric_plot
from steelyard.report.svg import inline_svg

__all__ = [
    "JudgedMetric",
    "forest_plot",
    "inline_svg",
    "metric_plot",
    "write_report",
]
