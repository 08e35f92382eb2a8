"""Texts cut at spaces, and their pieces numbered, for many texts at once."""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from steelyard.metrics.tokenizers import Tokenizer
from steelyard.metrics.tokens import Numbering, Tokens

__all__ = ["pieces", "tokenized"]

# Texts below which starting the fast way takes longer than the plain one
_FEW = 64


def tokenized(texts: Sequence[str], tokenizer: Tokenizer) -> Tokens:
    """Split texts into tokens; each distinct word is split once.

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
    >>> tokens = tokenized(["a cat's", "A cat."], RougeTokenizer())
    >>> tokens.ids, tokens.start, tokens.vocabulary
    (array([0, 1, 2, 0, 1]), array([0, 3, 5]), ['a', 'cat', 's'])
    """
    words = pieces([tokenizer.prepare(text) for text in texts])
    # a piece may hold whitespace that is no space, and then is several words or none
    whole = [word.split() == [word] for word in words.vocabulary]
    lines = iter(tokenizer.spaced("\n".join(compress(words.vocabulary, whole))).split("\n"))
    parts = Numbering().tokens(
        next(lines).split() if is_whole else tokenizer.split(word)
        for word, is_whole in zip(words.vocabulary, whole, strict=True)
    )
    return words.expanded(parts)


def pieces(texts: Sequence[str]) -> Tokens:
    """Cut texts at every space and number the pieces, equal ones equally.

    Parameters
    ----------
    texts : sequence of str
        Texts.

    Returns
    -------
    Tokens
        Pieces between single spaces. Some may be empty, and some hold other whitespace.

    Examples
    --------
    >>> found = pieces(["a b", "b  c"])
    >>> found.ids, found.start, found.vocabulary
    (array([0, 1, 1, 2, 3]), array([0, 2, 5]), ['a', 'b', '', 'c'])
    """
    if len(texts) >= _FEW:
        try:
            return _many(texts)
        except UnicodeEncodeError:
            # half a surrogate pair, which only Python's strings can hold
            pass
    numbering = Numbering()
    return numbering.tokens(text.split(" ") for text in texts)


def _many(texts: Sequence[str]) -> Tokens:
    import polars as pl  # noqa: PLC0415 (only when there is much to cut)

    lists = pl.Series(texts, dtype=pl.String).str.split(" ")
    words = lists.explode()
    # categories of their own, so that nothing is remembered when they are no longer used
    codes = words.cast(pl.Categorical(pl.Categories.random())).to_physical().to_numpy()
    # where each piece stands first: of several assignments the last one counts
    first = np.full(int(codes.max()) + 1, -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    present = first >= 0
    number = np.cumsum(present) - 1
    return Tokens(
        ids=number[codes],
        start=np.concatenate([[0], np.cumsum(lists.list.len().to_numpy(), dtype=np.int64)]),
        size=int(present.sum()),
        vocabulary=words.gather(first[present]).to_list(),
    )
