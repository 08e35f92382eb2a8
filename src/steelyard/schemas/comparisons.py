"""What ``compare`` prints."""

from typing import Literal

from steelyard.schemas.shape import Count, Ledger, Level, Number, Quantity, Shape, Share

__all__ = ["CompareForm"]


class Pair(Shape):
    """The mean human score of system `a` minus that of system `b`."""

    a: str
    b: str
    difference: float
    """Of preferences: wins of `a` minus its losses."""
    standard_error: Number
    low: Number
    high: Number
    simultaneous_low: Number
    """Holds together with those of all pairs; verdicts come from it."""
    simultaneous_high: Number
    p_value: Share
    """Of no difference, corrected for all pairs, by steps from the clearest pair down."""
    verdict: Literal["a", "b", "equivalent", "undecided"]
    n_items: Count
    identical_items: Count
    n_judgments: Count
    more_judgments: Count | None
    """About how many more would decide; null if nobody can tell."""
    ledger: Ledger | None
    """null in slices, for preferences, and where a difference has no error."""


class Rank(Shape):
    """The ranks that a system may have: 1 is the best."""

    system: str
    estimate: Number
    low: Count
    high: Count


class Compared(Shape):
    """How systems compare under one prompt, or in one slice of it."""

    prompt: str
    slice: str | None
    level: Level
    target: Literal["pool", "superpopulation"]
    raters: Literal["fixed", "random", "adjusted"]
    margin: float | None
    ranks: list[Rank]
    """Best estimate first; none unless all pairs were compared, nor of preferences."""
    groups: list[list[str]]
    """Systems that are not told apart, best group first."""
    about: str
    notes: list[str]


class Comparison(Compared):
    """A comparison by scores."""

    pairs: list[Pair]


class PreferencePair(Pair):
    """How often `a` was preferred to `b`: shares of items."""

    win: Quantity
    tie: Quantity
    loss: Quantity


class Strength(Shape):
    """A Bradley-Terry strength on the scale of log-odds; strengths add to 0."""

    system: str
    strength: float
    standard_error: Number
    low: Number
    high: Number


class OrderEffect(Shape):
    """How much the output that was shown first is preferred for it; null where that is not known."""

    effect: Number
    standard_error: Number
    low: Number
    high: Number
    p_value: Number
    n_judgments: Count
    first_shares: list[Number]
    """Of each pair, how often its first system was shown first; null where never known."""
    balanced: bool


class PreferenceComparison(Compared):
    """A comparison under a prompt that asks which of two outputs is better."""

    pairs: list[PreferencePair]
    strengths: list[Strength]
    """Strongest first; none unless all pairs were compared, and where they have no bound."""
    order_effect: OrderEffect | None
    order_sentence: str


CompareForm = list[Comparison | PreferenceComparison]
