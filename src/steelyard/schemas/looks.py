"""What ``monitor`` and ``replay`` print."""

from steelyard.questions.monitored import Monitored
from steelyard.questions.replay import Replay

__all__ = ["MonitorForm", "ReplayForm"]

MonitorForm = list[Monitored]
ReplayForm = list[Replay]
