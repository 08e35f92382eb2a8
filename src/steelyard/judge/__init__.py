"""A language model as an automatic metric: asks any OpenAI-compatible endpoint for scores.

The model is never trusted. Its scores are a metric like any other: human judgments decide what the
estimate is, the judge only how narrow its interval becomes.
"""

from steelyard.judge.failures import EndpointError
from steelyard.judge.judged import Judged, Usage
from steelyard.judge.judging import Forecast, forecast, judge
from steelyard.judge.rubric import Rubric, built_in_rubrics, read_rubric

__all__ = [
    "EndpointError",
    "Forecast",
    "Judged",
    "Rubric",
    "Usage",
    "built_in_rubrics",
    "forecast",
    "judge",
    "read_rubric",
]
