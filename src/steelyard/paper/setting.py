"""What a number of the paper is about."""

from dataclasses import dataclass

__all__ = ["Setting"]


@dataclass(frozen=True)
class Setting:
    """One metric for one system under one prompt of a task; system ``*`` is all of them."""

    task: str
    prompt: str
    system: str
    metric: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What numbers of the same setting have in common."""
        return self.task, self.prompt, self.system, self.metric
