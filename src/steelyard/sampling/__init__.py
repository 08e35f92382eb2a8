"""Draws of outputs to judge: simple, by strata, proportional to size, of whole clusters, and of pairs that differ."""
