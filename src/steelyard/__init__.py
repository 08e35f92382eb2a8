"""How good a text-generation system is in human eyes: unbiased, with an honest interval.

Every public name is loaded when it is first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steelyard.version import __version__

if TYPE_CHECKING:
    from steelyard.metrics import score
    from steelyard.questions.plan import plan
    from steelyard.single.components import variance_components
    from steelyard.single.confidence_sequence import ConfidenceSequence
    from steelyard.single.estimate import MeanEstimate
    from steelyard.single.mean import control_variates, sample_mean
    from steelyard.single.pool import PoolMoments
    from steelyard.single.trajectory import Trajectory, trajectory
    from steelyard.study import Study
    from steelyard.study.functions import compare, diagnose, estimate, monitor, replay
    from steelyard.tables import Judgments, Outputs, read_judgments, read_outputs

_HOME = {
    "ConfidenceSequence": "steelyard.single.confidence_sequence",
    "MeanEstimate": "steelyard.single.estimate",
    "Judgments": "steelyard.tables",
    "Outputs": "steelyard.tables",
    "PoolMoments": "steelyard.single.pool",
    "Study": "steelyard.study",
    "Trajectory": "steelyard.single.trajectory",
    "compare": "steelyard.study.functions",
    "control_variates": "steelyard.single.mean",
    "diagnose": "steelyard.study.functions",
    "estimate": "steelyard.study.functions",
    "monitor": "steelyard.study.functions",
    "plan": "steelyard.questions.plan",
    "read_judgments": "steelyard.tables",
    "read_outputs": "steelyard.tables",
    "replay": "steelyard.study.functions",
    "sample_mean": "steelyard.single.mean",
    "score": "steelyard.metrics",
    "trajectory": "steelyard.single.trajectory",
    "variance_components": "steelyard.single.components",
}

__all__ = [
    "ConfidenceSequence",
    "Judgments",
    "MeanEstimate",
    "Outputs",
    "PoolMoments",
    "Study",
    "Trajectory",
    "__version__",
    "compare",
    "control_variates",
    "diagnose",
    "estimate",
    "monitor",
    "plan",
    "read_judgments",
    "read_outputs",
    "replay",
    "sample_mean",
    "score",
    "trajectory",
    "variance_components",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
