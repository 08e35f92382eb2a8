"""Texts as integers: equal words are equal numbers, and all texts lie end to end in one array."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

import numpy as np

from steelyard.arrays import Ints

__all__ = ["Numbering", "Tokens", "characters", "spans"]


_CODE_POINTS = 0x110000


def spans(start: Ints, length: Ints) -> Ints:
    """Positions ``start[i], start[i] + 1, ..., start[i] + length[i] - 1`` for every i in turn.

    Examples
    --------
    >>> spans(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    before = np.cumsum(length) - length
    positions: Ints = np.arange(int(length.sum())) + np.repeat(start - before, length)
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
    size : int
        One more than the greatest integer that may occur, at least 1.
    vocabulary : sequence of str
        The token that each integer stands for; empty when the integers stand for themselves.
    """

    ids: Ints
    start: Ints
    size: int
    vocabulary: Sequence[str] = ()

    @cached_property
    def length(self) -> Ints:
        """Number of tokens of each text."""
        return np.diff(self.start)

    @cached_property
    def symbols(self) -> list[str] | list[list[int]]:
        """Each text as a string with one character per token, which string libraries read fast.

        A vocabulary beyond the number of code points gives lists of integers instead.
        """
        bounds = list(pairwise(self.start.tolist()))
        if self.size > _CODE_POINTS:
            numbers = self.ids.tolist()
            return [numbers[low:high] for low, high in bounds]
        whole = self.ids.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        return [whole[low:high] for low, high in bounds]

    def of(self, text: Ints) -> Ints:
        """Tokens of some texts, laid end to end.

        Parameters
        ----------
        text : (n,) array of int
            Which texts.

        Returns
        -------
        (n_tokens,) array of int
        """
        # in a batch without repeated texts these are mostly neighbours already
        if len(text) and np.array_equal(text, np.arange(text[0], text[0] + len(text))):
            return self.ids[self.start[text[0]] : self.start[text[-1] + 1]]
        return self.ids[spans(self.start[text], self.length[text])]

    def expanded(self, parts: "Tokens") -> "Tokens":
        """Put in the place of every token the parts it consists of.

        Parameters
        ----------
        parts : Tokens
            Parts of each token of the vocabulary, a text for each.

        Returns
        -------
        Tokens
        """
        length = parts.length[self.ids]
        end = np.concatenate([[0], np.cumsum(length)])
        return Tokens(
            ids=parts.ids[spans(parts.start[self.ids], length)],
            start=end[self.start],
            size=parts.size,
            vocabulary=parts.vocabulary,
        )


class Numbering:
    """Numbers strings in the order in which they first occur.

    Attributes
    ----------
    names : list of str
        The string that each number stands for.

    Examples
    --------
    >>> numbering = Numbering()
    >>> tokens = numbering.tokens([["a", "b"], ["a"]])
    >>> tokens.ids, tokens.start, numbering.names
    (array([0, 1, 0]), array([0, 2, 3]), ['a', 'b'])
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._number: defaultdict[str, int] = defaultdict()
        self._number.default_factory = self._number.__len__

    def tokens(self, texts: Iterable[Iterable[str]]) -> Tokens:
        """Number the tokens of texts, those seen before as before.

        Parameters
        ----------
        texts : iterable of iterables of str
            The tokens of each text.

        Returns
        -------
        Tokens
        """
        parts: list[Ints] = []
        waiting: list[str] = []
        start = [0]
        for tokens in texts:
            before = len(waiting)
            waiting += tokens
            start.append(start[-1] + len(waiting) - before)
            # looking up a thousand at a time keeps strings and numbers in the processor's cache
            if len(waiting) > 1000:
                parts.append(self._numbers(waiting))
                waiting = []
        parts.append(self._numbers(waiting))
        self.names.extend(islice(self._number, len(self.names), None))
        return Tokens(
            ids=np.concatenate(parts),
            start=np.array(start, dtype=np.int64),
            size=max(len(self.names), 1),
            vocabulary=self.names,
        )

    def _numbers(self, tokens: Sequence[str]) -> Ints:
        return np.fromiter(map(self._number.__getitem__, tokens), np.int64, count=len(tokens))


def characters(texts: Sequence[str], *, lowercase: bool = False, whitespace: bool = True) -> Tokens:
    """Code points of texts.

    Parameters
    ----------
    texts : sequence of str
        Texts.
    lowercase : bool
        Whether to lowercase the texts first.
    whitespace : bool
        Whether whitespace counts; otherwise it is left out.

    Returns
    -------
    Tokens

    Examples
    --------
    >>> characters(["a b"], whitespace=False).ids
    array([97, 98])
    """
    if lowercase:
        texts = [text.lower() for text in texts]
    if not whitespace:
        texts = ["".join(text.split()) for text in texts]
    length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return Tokens(
        ids=np.frombuffer(joined, dtype="<u4").astype(np.int64),
        start=np.concatenate([[0], np.cumsum(length)]),
        size=_CODE_POINTS,
    )
