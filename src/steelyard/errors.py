"""One small tree of exceptions: catch ``SteelyardError`` and you have caught them all."""

from collections.abc import Mapping, Sequence

__all__ = [
    "InvalidArgumentError",
    "InvalidDataError",
    "MissingDependencyError",
    "NotEstimableError",
    "SteelyardError",
    "UnknownNameError",
]


class SteelyardError(Exception):
    """Anything Steelyard refuses to do, with the reason and the way out in one line."""


class InvalidArgumentError(SteelyardError, ValueError):
    """An argument or option breaks its rule."""


class InvalidDataError(SteelyardError, ValueError):
    """A file or table breaks its contract; the message names file, line and column.

    Attributes
    ----------
    options : tuple of str
        What to add to the command so that it works, where that is known: an option and its value,
        then perhaps others.
    """

    def __init__(self, *args: object, options: Sequence[str] = ()) -> None:
        super().__init__(*args)
        self.options = tuple(options)


class NotEstimableError(SteelyardError, ValueError):
    """The data are well formed but do not determine what was asked for.

    Attributes
    ----------
    reasons : dict
        The reason by prompt and system, where several were asked for and none could be told.
    """

    def __init__(self, *args: object, reasons: Mapping[tuple[str, str], str] | None = None) -> None:
        super().__init__(*args)
        self.reasons = dict(reasons or {})


class MissingDependencyError(SteelyardError, ImportError):
    """An optional library is needed; the message names the extra that brings it."""


class UnknownNameError(SteelyardError, KeyError):
    """A name that is asked for is not there, or not the only one; the message names those that are."""

    # That of a KeyError would put the sentence in quotation marks.
    __str__ = Exception.__str__
