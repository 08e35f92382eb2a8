"""How much a file holds: counted for `check`."""

from dataclasses import dataclass, field

__all__ = ["Counts", "PerOutput", "ScoreEnds"]


@dataclass(frozen=True, kw_only=True)
class PerOutput:
    """Judgments of an output under a prompt."""

    mean: float | None
    most: int | None
    outputs_with_two: int


@dataclass(frozen=True, kw_only=True)
class ScoreEnds:
    """The scores of judgments."""

    low: float | None
    high: float | None
    different: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What a file holds, as far as its kind has it.

    Attributes
    ----------
    items : int or None
        Different items.
    systems, prompts : dict of str to int, or None
        Rows of each.
    metrics, texts
        The metrics of outputs, and whether there are texts.
    raters : int or None
        None also where there is no column of raters.
    judged_outputs, judgments_per_output, scores
        Of judgments.
    preferences : dict of str to tuple
        Wins, ties and losses of each system, where two outputs were compared.
    first_rows, may_be
        Of a table in no form that is known: its first cells as text, and what each column may be.
    """

    items: int | None = None
    systems: dict[str, int] | None = None
    metrics: tuple[str, ...] | None = None
    texts: bool | None = None
    raters: int | None = None
    prompts: dict[str, int] | None = None
    judged_outputs: int | None = None
    judgments_per_output: PerOutput | None = None
    scores: ScoreEnds | None = None
    preferences: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    first_rows: tuple[dict[str, str], ...] = ()
    may_be: dict[str, str] = field(default_factory=dict)
