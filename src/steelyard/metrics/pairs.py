"""A batch of outputs with their references, and what metrics have asked of its texts."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar, cast

import numpy as np

from steelyard.arrays import Ints
from steelyard.metrics.pieces import tokenized
from steelyard.metrics.tokenizers import Tokenizer
from steelyard.metrics.tokens import Tokens, characters

__all__ = ["Pairs"]

T = TypeVar("T")


class Pairs:
    """Examples, each an output with one or more references, as (output, reference) pairs.

    Metrics ask a batch for its tokens; what one metric has asked for is kept for the next.

    Parameters
    ----------
    outputs : sequence of str
        The output of each example.
    references : sequence of sequences of str
        The references of each example, at least one each.

    Attributes
    ----------
    texts : list of str
        The distinct texts.
    output, reference : (n_pairs,) arrays of int
        Positions in `texts` of the two texts of each pair; the pairs of an example are
        neighbours, in the order of its references.
    example : (n_pairs,) array of int
        The example that each pair belongs to.
    first : (n_examples,) array of int
        The first pair of each example.

    Examples
    --------
    >>> pairs = Pairs(["a b", "c"], [["a"], ["c", "a"]])
    >>> pairs.texts, pairs.output, pairs.reference, pairs.example
    (['a b', 'a', 'c'], array([0, 2, 2]), array([1, 2, 1]), array([0, 1, 1]))
    """

    def __init__(self, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        position: defaultdict[str, int] = defaultdict()
        position.default_factory = position.__len__
        output, reference, example = [], [], []
        for number, (text, others) in enumerate(zip(outputs, references, strict=True)):
            here = position[text]
            for other in others:
                output.append(here)
                reference.append(position[other])
                example.append(number)
        self.texts = list(position)
        self.output: Ints = np.array(output, dtype=np.int64)
        self.reference: Ints = np.array(reference, dtype=np.int64)
        self.example: Ints = np.array(example, dtype=np.int64)
        self.first: Ints = np.searchsorted(self.example, np.arange(len(outputs)))
        self._kept: dict[Hashable, object] = {}

    def __len__(self) -> int:
        return len(self.output)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return len(self.first)

    def keep(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute something once for this batch, and return it again when asked again."""
        if key not in self._kept:
            self._kept[key] = compute()
        return cast("T", self._kept[key])

    def tokens(self, tokenizer: Tokenizer) -> Tokens:
        """Tokens of all texts.

        Parameters
        ----------
        tokenizer : Tokenizer
            What splits a text into tokens.

        Returns
        -------
        Tokens
        """
        return self.keep(tokenizer, lambda: tokenized(self.texts, tokenizer))

    def characters(self, *, lowercase: bool = False, whitespace: bool = True) -> Tokens:
        """Code points of all texts.

        Parameters
        ----------
        lowercase : bool
            Whether to lowercase the texts first.
        whitespace : bool
            Whether whitespace counts; otherwise it is left out.

        Returns
        -------
        Tokens
        """
        key = ("characters", lowercase, whitespace)
        return self.keep(
            key, lambda: characters(self.texts, lowercase=lowercase, whitespace=whitespace)
        )
