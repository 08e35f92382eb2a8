"""What all published forms share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Count", "Number", "Shape"]

Number = Annotated[float | None, Field(description="null where it is not finite or not known")]
Count = Annotated[int, Field(ge=0)]


class Shape(BaseModel):
    """An object that has these keys and no others."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
