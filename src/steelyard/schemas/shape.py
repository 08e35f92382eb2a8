"""What all published forms share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Count", "Ledger", "Level", "Number", "Quantity", "Shape", "Share"]

Number = Annotated[float | None, Field(description="null where it is not finite or not known")]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Level = Annotated[float, Field(gt=0, lt=1, description="confidence level of the intervals")]


class Shape(BaseModel):
    """An object that has these keys and no others."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Quantity(Shape):
    """An estimated quantity with its interval; null where it is infinite or not known."""

    value: float | None
    low: float | None
    high: float | None


class Ledger(Shape):
    """What an interval would have cost by plain means."""

    plain: float
    """Judgments, drawn with replacement, after which plain means have an interval as long."""
    used: float
    """Judgments that were used; one that counts for k systems is 1/k of each."""
    saved: dict[str, float]
    """Judgments that each device saved, negative where it cost some; they add up to the rest."""
