"""A batch of outputs with their references, and its texts as integer tokens."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.metrics.tokenizers import Tokenizer

__all__ = ["Pairs", "Tokens", "spans", "tokenized"]

Integers = NDArray[np.int64]
T = TypeVar("T")

_CODE_POINTS = 0x110000


def spans(start: Integers, length: Integers) -> Integers:
    """Positions ``start[i], start[i] + 1, ..., start[i] + length[i] - 1`` for every i in turn.

    Examples
    --------
    >>> spans(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    before = np.cumsum(length) - length
    positions: Integers = np.arange(int(length.sum())) + np.repeat(start - before, length)
    return positions


@dataclass(frozen=True, eq=False)
class Tokens:
    """Texts as sequences of integers, laid end to end; equal tokens are equal integers.

    Attributes
    ----------
    ids : (n_tokens,) array of int
        Tokens of all texts.
    start : (n_texts + 1,) array of int
        Where each text begins in `ids`; the last entry is where the last text ends.
    vocabulary : tuple of str
        The token that each integer stands for; empty when the integers are code points.
    size : int
        One more than the greatest integer that may occur.
    """

    ids: Integers
    start: Integers
    vocabulary: tuple[str, ...]
    size: int

    @cached_property
    def length(self) -> Integers:
        """Number of tokens of each text."""
        return np.diff(self.start)

    @cached_property
    def symbols(self) -> list[Sequence[Hashable]]:
        """Each text as a string with one character per token, which string libraries read fast.

        A vocabulary beyond the number of code points gives lists of integers instead.
        """
        bounds = self.start.tolist()
        whole: Sequence[Hashable] = (
            self.ids.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
            if self.size <= _CODE_POINTS
            else self.ids.tolist()
        )
        return [whole[low:high] for low, high in pairwise(bounds)]


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
        self.output: Integers = np.array(output, dtype=np.int64)
        self.reference: Integers = np.array(reference, dtype=np.int64)
        self.example: Integers = np.array(example, dtype=np.int64)
        self.first: Integers = np.searchsorted(self.example, np.arange(len(outputs)))
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
        return self.keep(key, lambda: _character_tokens(self.texts, lowercase, whitespace))


def tokenized(texts: Sequence[str], tokenizer: Tokenizer) -> Tokens:
    """Tokens of texts, the same token the same integer in all of them.

    Parameters
    ----------
    texts : sequence of str
        Texts.
    tokenizer : Tokenizer
        What splits a text into tokens.

    Returns
    -------
    Tokens

    Examples
    --------
    >>> from steelyard.metrics.tokenizers import RougeTokenizer
    >>> tokens = tokenized(["a cat", "A dog."], RougeTokenizer())
    >>> tokens.ids, tokens.start, tokens.vocabulary
    (array([0, 1, 0, 2]), array([0, 2, 4]), ('a', 'cat', 'dog'))
    """
    # A word is split into tokens once, however often it occurs: the loop over texts only looks
    # words up, and arrays spread each word into its tokens.
    word_number: defaultdict[str, int] = defaultdict()
    word_number.default_factory = word_number.__len__
    words = array("q")
    text_end = array("q", [0])
    for text in texts:
        words.extend(map(word_number.__getitem__, tokenizer.prepare(text).split()))
        text_end.append(len(words))

    token_number: defaultdict[str, int] = defaultdict()
    token_number.default_factory = token_number.__len__
    tokens = array("q")
    word_end = array("q", [0])
    for word in word_number:
        tokens.extend(map(token_number.__getitem__, tokenizer.split(word)))
        word_end.append(len(tokens))

    bounds = np.frombuffer(word_end, dtype=np.int64)
    occurrence = np.frombuffer(words, dtype=np.int64)
    length = np.diff(bounds)[occurrence]
    ids = np.frombuffer(tokens, dtype=np.int64)[spans(bounds[:-1][occurrence], length)]
    end = np.concatenate([[0], np.cumsum(length)])
    return Tokens(
        ids=ids,
        start=end[np.frombuffer(text_end, dtype=np.int64)],
        vocabulary=tuple(token_number),
        size=max(len(token_number), 1),
    )


def _character_tokens(texts: Sequence[str], lowercase: bool, whitespace: bool) -> Tokens:  # noqa: FBT001
    if lowercase:
        texts = [text.lower() for text in texts]
    if not whitespace:
        texts = ["".join(text.split()) for text in texts]
    length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return Tokens(
        ids=np.frombuffer(joined, dtype="<u4").astype(np.int64),
        start=np.concatenate([[0], np.cumsum(length)]),
        vocabulary=(),
        size=_CODE_POINTS,
    )
