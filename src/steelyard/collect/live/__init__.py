"""The campaign as it stands, for whoever runs it: computed while somebody looks, and shared."""

from steelyard.collect.live.following import LiveSnapshots
from steelyard.collect.live.snapshot import snapshot

__all__ = ["LiveSnapshots", "snapshot"]
