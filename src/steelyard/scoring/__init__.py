"""Score files of outputs: a file in, the same rows with metrics out; parallel and resumable."""

from steelyard.scoring.run import score_file
from steelyard.scoring.summary import ScoreSummary, ScoringProgress

__all__ = ["ScoreSummary", "ScoringProgress", "score_file"]
