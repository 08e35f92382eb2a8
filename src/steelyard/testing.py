"""A pytest fixture for gates: a test that fails when a system is worse in human eyes.

Nothing imports this module unless a test asks for it, with one line in ``conftest.py``::

    pytest_plugins = ["steelyard.testing"]

A test then reads::

    from steelyard import Study

    def test_the_new_system_is_not_worse(steelyard_gate):
        study = Study.read("outputs.jsonl", "judgments.jsonl")
        steelyard_gate(study.compare(pair=("new", "old"), margin=0.05), "not-worse")
"""

from collections.abc import Callable, Sequence
from typing import Literal

import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.questions.compare import gate_answer
from steelyard.questions.comparison import Comparison
from steelyard.questions.pairs import Gate

__all__ = ["check_gate", "steelyard_gate"]


def check_gate(
    found: Sequence[Comparison], gate: Gate, *, undecided: Literal["fail", "skip"] = "fail"
) -> None:
    """Fail the test unless a gate holds for all pairs that were compared.

    Parameters
    ----------
    found : sequence of Comparison
        What `Study.compare` gave for a `pair` or a `baseline`, with the `margin` in question.
    gate : {"better", "not-worse", "equivalent"}
        What is asked of the first system of each pair.
    undecided : {"fail", "skip"}
        What becomes of the test where judgments do not decide yet.

    Raises
    ------
    AssertionError
        If it does not hold; the message says for which pair, and what would decide.
    InvalidArgumentError
        If all pairs were compared, or the gate needs a margin and there is none.
    """
    if any(one.ranks for one in found):
        raise InvalidArgumentError(
            "a gate needs `pair` or `baseline` in `compare`: whose difference is it about?"
        )
    margin = found[0].margin
    if gate != "better" and margin is None:
        raise InvalidArgumentError(
            f'gate "{gate}" needs `margin` in `compare`: what difference does not matter?'
        )
    answer, words = gate_answer(found, gate, margin)
    if answer == "undecided" and undecided == "skip":
        pytest.skip(words)
    if answer != "holds":
        __tracebackhide__ = True
        raise AssertionError(words)


@pytest.fixture
def steelyard_gate() -> Callable[..., None]:
    """Return `check_gate`: fail the test unless a gate holds."""
    return check_gate
