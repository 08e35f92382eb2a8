"""The questions of a study as functions of its files: `steelyard.estimate(outputs, judgments)` and friends."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from steelyard.study.study import Study

__all__ = ["compare", "diagnose", "estimate", "monitor", "replay"]

P = ParamSpec("P")
T_co = TypeVar("T_co", covariant=True)


class Question(Protocol[P, T_co]):
    """A method of `Study` as a function of outputs and judgments; then come the method's own options."""

    def __call__(
        self, outputs: Any, judgments: Any = None, /, *args: P.args, **kwargs: P.kwargs
    ) -> T_co:
        """Read the files as `Study.read` does, and ask."""


def _of_files(ask: Callable[Concatenate[Study, P], T_co]) -> Question[P, T_co]:
    @wraps(ask)
    def asked(outputs: Any, judgments: Any = None, /, *args: P.args, **kwargs: P.kwargs) -> T_co:
        return ask(Study.read(outputs, judgments), *args, **kwargs)

    return asked


estimate = _of_files(Study.estimate)
compare = _of_files(Study.compare)
diagnose = _of_files(Study.diagnose)
monitor = _of_files(Study.monitor)
replay = _of_files(Study.replay)
