"""BERTScore: tokens matched by their vectors in context.

References
----------
T. Zhang, V. Kishore, F. Wu, K. Q. Weinberger, Y. Artzi (2020). BERTScore: evaluating text
generation with BERT. ICLR.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from steelyard.metrics.encoders import TokenEncoder, token_encoder
from steelyard.metrics.fractions import f_measure
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.overlap import blocks
from steelyard.metrics.pairs import Pairs

__all__ = ["BertScore"]


@dataclass(frozen=True, kw_only=True)
class BertScore(PairMetric):
    r"""BERTScore: tokens of output and reference matched by their vectors in context.

    With unit vectors :math:`x_i` of the output's tokens and :math:`y_j` of the reference's,

    .. math::
        P = \frac1I \sum_i \max_j x_i^\top y_j, \quad
        R = \frac1J \sum_j \max_i x_i^\top y_j, \quad F = \frac{2PR}{P + R}.

    Tokens that mark the ends of a text may be matched but do not count. It equals the values of
    the package bert-score; a text without tokens has value 0.

    Attributes
    ----------
    statistic : {"f", "precision", "recall"}
        Which of the three.
    model : str
        A transformer's folder, or its name in the local cache of Hugging Face's hub.
    layer : int, optional
        The layer whose hidden states are the vectors; by default the one that agrees best with
        human judgments, where that is known.
    encoder : TokenEncoder, optional
        Used instead of `model`.

    Examples
    --------
    >>> from steelyard.metrics import score
    >>> class Letters:
    ...     special = frozenset()
    ...     def tokens(self, texts):
    ...         return [["ab".index(letter) for letter in text] for text in texts]
    ...     def vectors(self, tokens):
    ...         return [np.eye(2, dtype=np.float32)[ids] for ids in tokens]
    >>> score(["aab"], ["a"], metrics={"precision": BertScore(encoder=Letters(), statistic="precision")})
    {'precision': array([0.66666667])}
    """

    libraries: ClassVar[tuple[str, ...]] = ("torch", "transformers")

    statistic: Literal["f", "precision", "recall"] = "f"
    model: str = "roberta-large"
    layer: int | None = None
    encoder: TokenEncoder | None = None

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        encoder = self.encoder or token_encoder(self.model, self.layer)
        precision, recall = pairs.keep((BertScore, id(encoder)), lambda: _matched(encoder, pairs))
        return {"precision": precision, "recall": recall, "f": f_measure(precision, recall)}[
            self.statistic
        ]


def _matched(encoder: TokenEncoder, pairs: Pairs) -> tuple[Floats, Floats]:
    """Precision and recall of every pair."""
    tokens = encoder.tokens(pairs.texts)
    length = np.array([len(ids) for ids in tokens], dtype=np.int64)
    precision, recall = np.zeros(len(pairs)), np.zeros(len(pairs))
    # pairs that share a reference come together, so that it is encoded once
    order = np.argsort(pairs.reference, kind="stable")
    text = np.stack([pairs.output, pairs.reference], axis=1)[order]
    # vectors take much room: those of a block of pairs are held at a time
    for low, high in blocks(length[text].sum(axis=1)):
        needed = np.unique(text[low:high]).tolist()
        vectors = dict(zip(needed, encoder.vectors([tokens[one] for one in needed]), strict=True))
        weights = {
            one: np.array([float(token not in encoder.special) for token in tokens[one]])
            for one in needed
        }
        for pair, (output, reference) in zip(
            order[low:high].tolist(), text[low:high].tolist(), strict=True
        ):
            if weights[output].any() and weights[reference].any():
                cosine = vectors[output] @ vectors[reference].T
                precision[pair] = np.average(cosine.max(axis=1), weights=weights[output])
                recall[pair] = np.average(cosine.max(axis=0), weights=weights[reference])
    return precision, recall
