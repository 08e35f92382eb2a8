"""Variance components, correlation, data efficiency and agreement of judgments."""

from steelyard.variance.agreement import Agreement, agreement
from steelyard.variance.components import (
    OneWay,
    VarianceComponents,
    one_way,
    variance_components,
)
from steelyard.variance.correlation import Correlation, correlation
from steelyard.variance.crossed import CrossedComponents, crossed_components, gls_weights
from steelyard.variance.efficiency import (
    Efficiency,
    data_efficiency,
    efficiency_of,
    efficiency_of_each,
    noiseless_raters,
    perfect_metric,
)
from steelyard.variance.joint_analysis import JointAnalysis, joint_analysis
from steelyard.variance.published import (
    PrintedComponents,
    authors_correlation,
    printed_components,
)
from steelyard.variance.quantity import Quantity
from steelyard.variance.remedies import Remedies

__all__ = [
    "Agreement",
    "Correlation",
    "CrossedComponents",
    "Efficiency",
    "JointAnalysis",
    "OneWay",
    "PrintedComponents",
    "Quantity",
    "Remedies",
    "VarianceComponents",
    "agreement",
    "authors_correlation",
    "correlation",
    "crossed_components",
    "data_efficiency",
    "efficiency_of",
    "efficiency_of_each",
    "gls_weights",
    "joint_analysis",
    "noiseless_raters",
    "one_way",
    "perfect_metric",
    "printed_components",
    "variance_components",
]
