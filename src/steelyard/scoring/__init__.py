"""Score files of outputs: the same rows with metrics beside them; in parallel, and resumable."""

from steelyard.scoring.run import ScoreSummary, ScoringProgress, score_file

__all__ = ["ScoreSummary", "ScoringProgress", "score_file"]
