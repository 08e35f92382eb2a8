"""Names of tasks, systems, prompts and metrics as the paper writes them, in its order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["TASKS", "Setting", "TaskNames", "metric_name", "ordered", "prompt_name", "system_name"]


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

    @property
    def title(self) -> str:
        """The setting in the paper's words."""
        names = system_name(self.system), prompt_name(self.prompt), metric_name(self.metric)
        return ", ".join(names)


@dataclass(frozen=True)
class TaskNames:
    """What the paper calls a task and its parts.

    Attributes
    ----------
    title : str
        The task.
    file : str
        Its file in the release.
    systems, prompts : tuple of str
        As the release spells them, in the order of the paper.
    bias_prompt : str
        The human score of the authors' bias study; its metric is ROUGE-L.
    map_prompt : str
        The prompt of the paper's figure of correlations.
    """

    title: str
    file: str
    systems: tuple[str, ...]
    prompts: tuple[str, ...]
    bias_prompt: str
    map_prompt: str


TASKS = {
    "msmarco": TaskNames(
        title="MS MARCO",
        file="msmarco.jsonl",
        systems=("fastqa", "fastqa_ext", "snet.single", "snet.ensemble"),
        prompts=("AnyCorrect", "AvgCorrect"),
        bias_prompt="AnyCorrect",
        map_prompt="AnyCorrect",
    ),
    "cnndm": TaskNames(
        title="CNN/Daily Mail",
        file="cnndm.jsonl",
        systems=("seq2seq", "pointer", "ml", "ml+rl"),
        prompts=("grammar", "redundancy", "overall", "hter"),
        bias_prompt="overall",
        map_prompt="hter",
    ),
}

_PROMPTS = {
    "grammar": "Fluency",
    "redundancy": "Redundancy",
    "overall": "Overall",
    "hter": "Edit",
}
_METRICS = {
    "bleu": "BLEU",
    "meteor": "METEOR",
    "rouge-1": "ROUGE-1",
    "rouge-2": "ROUGE-2",
    "rouge-l": "ROUGE-L",
    "sim": "VecSim",
    "ter": "TER",
}
_SYSTEMS = {"snet.single": "snet", "snet.ensemble": "snet.ens", "*": "all systems"}


def prompt_name(prompt: str) -> str:
    """Return the paper's name of a prompt, or what it is called where the paper has none."""
    return _PROMPTS.get(prompt, prompt)


def metric_name(metric: str) -> str:
    """Return the paper's name of a metric."""
    return _METRICS.get(metric, metric)


def system_name(system: str) -> str:
    """Return the paper's name of a system."""
    return _SYSTEMS.get(system, system)


def ordered(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return names in the order of the paper, those that it does not know last.

    Examples
    --------
    >>> ordered(["new", "b", "a"], ["a", "b", "c"])
    ('a', 'b', 'new')
    """
    names = dict.fromkeys(names)
    return (*(name for name in known if name in names), *(n for n in names if n not in known))
