"""What all published forms share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Count", "Level", "Number", "Quantity", "Shape", "Share"]

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
