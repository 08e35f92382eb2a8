"""The paper's figures, drawn from the released data."""

from steelyard.paper.figures.bottlenecks import bottleneck_plot
from steelyard.paper.figures.contours import contour_plot
from steelyard.paper.figures.densities import density_plot
from steelyard.paper.figures.heat_maps import correlation_maps, distance_map
from steelyard.paper.figures.histograms import difference_plot
from steelyard.paper.figures.lengths import LengthPanel, length_plot, overview_plot
from steelyard.paper.figures.systems import system_plot

__all__ = [
    "LengthPanel",
    "bottleneck_plot",
    "contour_plot",
    "correlation_maps",
    "density_plot",
    "difference_plot",
    "distance_map",
    "length_plot",
    "overview_plot",
    "system_plot",
]
