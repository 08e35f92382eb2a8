"""Sentence vectors as means of static word vectors, from wordllama's packaged weights.

References
----------
WordLlama: token embeddings extracted from large language models, averaged over a text.
"""

import logging
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import MissingDependencyError

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
        self._vectors = vectors
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
        pieces = [self._pieces(text) for text in texts]
        distinct = list(dict.fromkeys(piece for several in pieces for piece in several))
        encoded = self._tokenizer.encode_batch_fast(distinct, add_special_tokens=False)
        last = len(self._vectors) - 1
        ids = {
            piece: [min(token, last) for token in one.ids]
            for piece, one in zip(distinct, encoded, strict=True)
        }
        means = np.zeros((len(texts), self._vectors.shape[1]), dtype=np.float32)
        for row, several in enumerate(pieces):
            tokens = [token for piece in several for token in ids[piece]]
            if tokens:
                means[row] = self._vectors[tokens].mean(axis=0)
        return means

    def _pieces(self, text: str) -> list[str]:
        """Parts of a text that can be tokenized each on its own, as texts."""
        if not text:
            return []
        if "<" in text and any(token in text for token in self._special):
            return [text]
        words = text.split(" ")
        if "" not in words:
            return words
        # The tokenizer puts a space before a text. A run of spaces goes with the word after it,
        # and at the end of the text with the word before it.
        return [piece[1:] for piece in _PIECE.findall(" " + text)]


@cache
def packaged_vectors() -> StaticVectors:
    """Vectors that come inside wordllama's package: 256 dimensions, 32,000 subword tokens.

    Returns
    -------
    StaticVectors
        Read from disk once in a process; nothing is downloaded.

    Raises
    ------
    MissingDependencyError
        If wordllama, or its weights, are not installed.
    """
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
    return StaticVectors(model.tokenizer, model.embedding)
