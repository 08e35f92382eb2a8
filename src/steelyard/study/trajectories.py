"""The trajectory of one system under one prompt."""

from dataclasses import dataclass
from typing import Any

from steelyard.estimate import Trajectory

__all__ = ["SystemTrajectory"]


@dataclass(frozen=True)
class SystemTrajectory:
    """A trajectory with the names of what it is about."""

    system: str
    prompt: str
    metrics: tuple[str, ...]
    trajectory: Trajectory

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        names = {"system": self.system, "prompt": self.prompt, "metrics": list(self.metrics)}
        return names | self.trajectory.to_dict()
