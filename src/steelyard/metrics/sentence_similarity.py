"""Cosine of sentence vectors from a transformer.

References
----------
N. Reimers, I. Gurevych (2019). Sentence-BERT: sentence embeddings using Siamese BERT-networks.
EMNLP, 3982-3992.
"""

from dataclasses import dataclass
from typing import ClassVar

from steelyard.metrics.encoders import sentence_vectors
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.vecsim import VecSim

__all__ = ["SentenceSimilarity"]


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
