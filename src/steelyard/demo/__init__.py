"""The built-in simulated campaign, whose truth is known."""

from steelyard.demo.campaign import NEW, Campaign, campaign

__all__ = ["NEW", "Campaign", "campaign"]
