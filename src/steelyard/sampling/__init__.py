"""Draws of outputs to judge: simple, by strata, proportional to size, of whole clusters, and of pairs that differ."""

from steelyard.sampling.draw import Design, Draw
from steelyard.sampling.drawing import draw_sample
from steelyard.sampling.strata import quantile_strata

__all__ = ["Design", "Draw", "draw_sample", "quantile_strata"]
