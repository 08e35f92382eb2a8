"""The questions people ask of a campaign, one file for each; every answer is a form of one fitted model."""
