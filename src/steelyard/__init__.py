"""How good a text-generation system is in human eyes: unbiased, with an honest interval.

Every public name is loaded when it is first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard.arrays import JudgedOutputs, PoolMoments, judged_outputs
    from steelyard.estimate import Estimate, control_variates, sample_mean

__version__ = "0.1.0"

_HOME = {
    "Estimate": "steelyard.estimate",
    "JudgedOutputs": "steelyard.arrays",
    "PoolMoments": "steelyard.arrays",
    "control_variates": "steelyard.estimate",
    "judged_outputs": "steelyard.arrays",
    "sample_mean": "steelyard.estimate",
}

__all__ = [  # noqa: PLE0604  (names are strings)
    "Estimate",
    "JudgedOutputs",
    "PoolMoments",
    "__version__",
    "control_variates",
    "judged_outputs",
    "sample_mean",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
