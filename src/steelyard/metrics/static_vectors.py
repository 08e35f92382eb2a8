"""Sentence vectors as means of static word vectors, from wordllama's packaged weights.

References
----------
WordLlama: token embeddings extracted from large language models, averaged over a text.
"""

import logging
import re
from collections.abc import Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import MissingDependencyError
from steelyard.metrics.tokens import Numbering, Tokens

__all__ = ["StaticVectors", "packaged_vectors"]

_PIECE = re.compile(" +[^ ]+(?: +$)?| +$")


class StaticVectors:
    """Embeds texts: the mean of the vectors of their subword tokens.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        Splits a text into subword tokens, none of which spans a space inside it.
    vectors : (n_tokens, dimension) array
        Vector of each token.

    Notes
    -----
    No subword token reaches across the space before a word, so a text's tokens are those of its
    words. Each distinct word is tokenized once; this is what makes embedding fast.
    """

    def __init__(self, tokenizer: Any, vectors: NDArray[np.float32]) -> None:
        self._tokenizer = tokenizer
        self.vectors = vectors
        # these are cut out of a text before words are, wherever they stand
        self._special = tuple(
            token.content for token in tokenizer.get_added_tokens_decoder().values()
        )

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts.

        Parameters
        ----------
        texts : sequence of str, length n
            Texts.

        Returns
        -------
        (n, dimension) array of float
            Mean vector of each text; zeros for an empty text.
        """
        tokens = self.tokens(texts)
        sums = np.zeros((len(texts), self.vectors.shape[1]), dtype=np.float32)
        for row, (low, high) in enumerate(pairwise(tokens.start.tolist())):
            np.add.reduce(self.vectors.take(tokens.ids[low:high], axis=0), axis=0, out=sums[row])
        sums /= np.maximum(tokens.length, 1)[:, np.newaxis]
        return sums

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """Subword tokens of texts; each number is a row of `vectors`."""
        words = Numbering().tokens(map(self._pieces, texts))
        return words.expanded(self._encoded(words.vocabulary))

    def _encoded(self, pieces: Sequence[str]) -> Tokens:
        encoded = self._tokenizer.encode_batch_fast(list(pieces), add_special_tokens=False)
        ids = np.fromiter(chain.from_iterable(one.ids for one in encoded), np.int64)
        length = np.fromiter((len(one.ids) for one in encoded), np.int64, count=len(encoded))
        start = np.concatenate([[0], np.cumsum(length)])
        # as wordllama reads it: a number beyond the table is the last one
        last = len(self.vectors) - 1
        return Tokens(ids=np.minimum(ids, last), start=start, size=last + 1)

    def _pieces(self, text: str) -> list[str]:
        """Parts of a text that can be tokenized each on its own, as texts."""
        if not text:
            return []
        if not text.isascii():
            # the tokenizer reads UTF-8, which half a surrogate pair does not have
            text = text.encode("utf-8", "replace").decode("utf-8")
        if "<" in text and any(token in text for token in self._special):
            return [text]
        words = text.split(" ")
        if "" not in words:
            return words
        # The tokenizer puts a space before a text. A run of spaces goes with the word after it,
        # and at the end of the text with the word before it.
        return [piece[1:] for piece in _PIECE.findall(" " + text)]


def packaged_vectors() -> StaticVectors:
    """Vectors that come inside wordllama's package: 256 dimensions, 32,000 subword tokens.

    Returns
    -------
    StaticVectors
        Weights are read from disk once in a process; nothing is downloaded.

    Raises
    ------
    MissingDependencyError
        If wordllama, or its weights, are not installed.
    """
    return StaticVectors(*_packaged_weights())


@cache
def _packaged_weights() -> tuple[Any, NDArray[np.float32]]:
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    try:
        import wordllama  # noqa: PLC0415 (only when its vectors are used)

        model = wordllama.WordLlama.load(
            cache_dir=Path(wordllama.__file__).parent, disable_download=True
        )
    except (ImportError, FileNotFoundError) as error:
        raise MissingDependencyError(
            "`metrics`: 'vecsim' needs the word vectors inside the package wordllama, which cannot "
            f"be loaded ({error}): install wordllama, or pass VecSim(embed=...)"
        ) from error
    finally:
        # importing wordllama turns logging on for the whole program, which is not ours to do
        root.setLevel(before[0])
        root.handlers[:] = before[1]
    model.tokenizer.no_padding()
    return model.tokenizer, model.embedding
