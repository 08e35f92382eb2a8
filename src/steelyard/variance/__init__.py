"""One analysis of judgments for components, agreement and every metric, as a diagnosis needs it."""

from steelyard.single.agreement import Agreement
from steelyard.single.components import one_way
from steelyard.single.crossed import CrossedComponents, crossed_components
from steelyard.single.efficiency import Efficiency
from steelyard.single.quantity import Quantity
from steelyard.variance.joint_analysis import JointAnalysis, joint_analysis
from steelyard.variance.remedies import Remedies

__all__ = [
    "Agreement",
    "CrossedComponents",
    "Efficiency",
    "JointAnalysis",
    "Quantity",
    "Remedies",
    "crossed_components",
    "joint_analysis",
    "one_way",
]
