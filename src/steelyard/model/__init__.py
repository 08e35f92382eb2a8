"""One mixed model of a campaign: effects, their variances, forms, errors and intervals. numpy and scipy only."""
