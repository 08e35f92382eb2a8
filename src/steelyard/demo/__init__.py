"""A built-in campaign with simulated systems and raters, and a known truth."""

from steelyard.demo.campaign import Campaign, campaign

__all__ = ["Campaign", "campaign"]
