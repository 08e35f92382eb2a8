"""Score files of outputs: a file in, the same rows with metrics out; parallel and resumable."""

from steelyard.scoring.run import Progress, ScoreSummary, score_file

__all__ = ["Progress", "ScoreSummary", "score_file"]
