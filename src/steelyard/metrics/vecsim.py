"""VecSim and sentence similarity: cosine of sentence vectors.

References
----------
M. Pagliardini, P. Gupta, M. Jaggi (2018). Unsupervised learning of sentence embeddings using
compositional n-gram features. NAACL, 528-540.

N. Reimers, I. Gurevych (2019). Sentence-BERT: sentence embeddings using Siamese BERT-networks.
EMNLP, 3982-3992.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.encoders import sentence_vectors
from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.static_vectors import packaged_vectors

__all__ = ["SentenceSimilarity", "VecSim"]


@dataclass(frozen=True, kw_only=True)
class VecSim(PairMetric):
    """VecSim: cosine of the sentence vectors of output and reference.

    A text without a direction, such as an empty one, has cosine 0 with every text.

    Attributes
    ----------
    embed : callable, optional
        Takes a list of n texts, returns an (n, d) array of vectors. By default, means of static
        word vectors (`steelyard.metrics.static_vectors.packaged_vectors`).

    Examples
    --------
    >>> from steelyard.metrics import score
    >>> letters = lambda texts: [[text.count(letter) for letter in "abc"] for text in texts]
    >>> score(["ab"], ["b"], metrics={"letters": VecSim(embed=letters)})
    {'letters': array([0.70710678])}
    """

    embed: Callable[[list[str]], ArrayLike] | None = None

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        # by identity, since a callable object need not be hashable
        vectors = pairs.keep((VecSim, id(self.embed)), lambda: self._vectors(pairs))
        length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        product = np.einsum("ij,ij->i", vectors[pairs.output], vectors[pairs.reference])
        cosine = fraction(product, length[pairs.output] * length[pairs.reference])
        return np.clip(cosine, -1.0, 1.0)

    def _vectors(self, pairs: Pairs) -> Floats:
        texts = pairs.texts
        embed = self.embed or packaged_vectors()
        vectors = np.asarray(embed(texts), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise InvalidArgumentError(
                f"`embed` must return one vector for each text, an array of shape "
                f"({len(texts)}, d); got shape {vectors.shape}"
            )
        if not np.isfinite(vectors).all():
            raise InvalidArgumentError("`embed` must return finite vectors; got NaN or infinity")
        return vectors


@dataclass(frozen=True, kw_only=True)
class SentenceSimilarity(PairMetric):
    """Sentence similarity: cosine of the vectors that a sentence-transformers model gives.

    A blank text has cosine 0 with every text.

    Attributes
    ----------
    model : str
        The model's folder, or its name in the local cache of Hugging Face's hub.
    """

    libraries: ClassVar[tuple[str, ...]] = ("torch", "transformers", "sentence-transformers")

    model: str = "sentence-transformers/all-MiniLM-L6-v2"

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        return VecSim(embed=sentence_vectors(self.model)).pair_scores(pairs)
