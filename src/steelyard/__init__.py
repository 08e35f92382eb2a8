"""How good a text-generation system is in human eyes: unbiased, with an honest interval.

Every public name is loaded when it is first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steelyard.version import __version__

if TYPE_CHECKING:
    from steelyard.arrays import JudgedOutputs, PoolMoments, judged_outputs
    from steelyard.estimate.control_variates import control_variates
    from steelyard.estimate.result import Estimate
    from steelyard.estimate.sample_mean import sample_mean
    from steelyard.estimate.stratified import stratified_mean
    from steelyard.estimate.trajectory import Trajectory, trajectory
    from steelyard.estimate.weighted import weighted_mean
    from steelyard.metrics import score
    from steelyard.questions.plan import plan
    from steelyard.sampling import Draw, draw_sample
    from steelyard.single.confidence_sequence import ConfidenceSequence
    from steelyard.study import Study
    from steelyard.tables import Judgments, Outputs, read_judgments, read_outputs
    from steelyard.variance import (
        agreement,
        correlation,
        crossed_components,
        data_efficiency,
        variance_components,
    )

_HOME = {
    "ConfidenceSequence": "steelyard.single.confidence_sequence",
    "Draw": "steelyard.sampling",
    "Estimate": "steelyard.estimate",
    "JudgedOutputs": "steelyard.arrays",
    "Judgments": "steelyard.tables",
    "Outputs": "steelyard.tables",
    "PoolMoments": "steelyard.arrays",
    "Study": "steelyard.study",
    "Trajectory": "steelyard.estimate",
    "agreement": "steelyard.variance",
    "control_variates": "steelyard.estimate",
    "correlation": "steelyard.variance",
    "crossed_components": "steelyard.variance",
    "data_efficiency": "steelyard.variance",
    "draw_sample": "steelyard.sampling",
    "judged_outputs": "steelyard.arrays",
    "plan": "steelyard.questions.plan",
    "read_judgments": "steelyard.tables",
    "read_outputs": "steelyard.tables",
    "sample_mean": "steelyard.estimate",
    "score": "steelyard.metrics",
    "stratified_mean": "steelyard.estimate",
    "trajectory": "steelyard.estimate",
    "variance_components": "steelyard.variance",
    "weighted_mean": "steelyard.estimate",
}

__all__ = [
    "ConfidenceSequence",
    "Draw",
    "Estimate",
    "JudgedOutputs",
    "Judgments",
    "Outputs",
    "PoolMoments",
    "Study",
    "Trajectory",
    "__version__",
    "agreement",
    "control_variates",
    "correlation",
    "crossed_components",
    "data_efficiency",
    "draw_sample",
    "judged_outputs",
    "plan",
    "read_judgments",
    "read_outputs",
    "sample_mean",
    "score",
    "stratified_mean",
    "trajectory",
    "variance_components",
    "weighted_mean",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
