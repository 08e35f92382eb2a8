"""BERTScore: tokens matched by their vectors in context.

References
----------
T. Zhang, V. Kishore, F. Wu, K. Q. Weinberger, Y. Artzi (2020). BERTScore: evaluating text
generation with BERT. ICLR.
"""

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.encoders import TokenEncoder, token_encoder
from steelyard.metrics.fractions import f_measure
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.overlap import blocks
from steelyard.metrics.pairs import Pairs

__all__ = ["BertScore"]

_STATISTICS = ("precision", "recall", "f")


@dataclass(frozen=True, kw_only=True)
class BertScore(PairMetric):
    r"""BERTScore: tokens of output and reference matched by their vectors in context.

    With unit vectors :math:`x_i` of the output's tokens and :math:`y_j` of the reference's, and
    weights :math:`w`, all 1 unless `idf` is given,

    .. math::
        P = \frac{\sum_i w_i \max_j x_i^\top y_j}{\sum_i w_i}, \quad
        R = \frac{\sum_j w_j \max_i x_i^\top y_j}{\sum_j w_j}, \quad F = \frac{2PR}{P + R}.

    Tokens that mark the ends of a text may be matched but have no weight. It equals the values of
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
    idf : str
        A file with a text on each line. With N of them, a token that c of them have weighs
        :math:`\log\frac{N + 1}{c + 1}`. It is a file, so that a value depends on no other row.
    baseline : str
        A file of values b that unrelated texts have, CSV with the columns LAYER, P, R and F as in
        bert-score. Values become :math:`(v - b)/(1 - b)`, easier to read; no estimate
        depends on it.
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
    idf: str = ""
    baseline: str = ""
    encoder: TokenEncoder | None = None

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        encoder = self.encoder or token_encoder(self.model, self.layer)
        weight = _inverse_frequencies(encoder, self.idf) if self.idf else None
        precision, recall = pairs.keep(
            (BertScore, id(encoder), self.idf), lambda: _matched(encoder, weight, pairs)
        )
        values = {
            "precision": precision,
            "recall": recall,
            "f": f_measure(precision, recall),
        }[self.statistic]
        if not self.baseline:
            return values
        layer = getattr(encoder, "layer", self.layer)
        low = _baseline(self.baseline, layer)[_STATISTICS.index(self.statistic)]
        return (values - low) / (1 - low)


def _matched(
    encoder: TokenEncoder, weight: Mapping[int, float] | None, pairs: Pairs
) -> tuple[Floats, Floats]:
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
        weights = {one: _weights(tokens[one], weight, encoder.special) for one in needed}
        for pair, (output, reference) in zip(
            order[low:high].tolist(), text[low:high].tolist(), strict=True
        ):
            if weights[output].any() and weights[reference].any():
                cosine = vectors[output] @ vectors[reference].T
                precision[pair] = np.average(cosine.max(axis=1), weights=weights[output])
                recall[pair] = np.average(cosine.max(axis=0), weights=weights[reference])
    return precision, recall


def _weights(
    ids: Sequence[int], weight: Mapping[int, float] | None, special: frozenset[int]
) -> NDArray[np.float64]:
    if weight is None:
        return np.array([float(one not in special) for one in ids])
    return np.array([0.0 if one in special else weight[one] for one in ids])


class _Weights(dict[int, float]):
    """Weights of tokens; one that is not among them has the weight of a token never seen."""

    def __init__(self, known: Mapping[int, float], unseen: float) -> None:
        super().__init__(known)
        self._unseen = unseen

    def __missing__(self, token: int) -> float:
        return self._unseen


@cache
def _inverse_frequencies(encoder: TokenEncoder, path: str) -> Mapping[int, float]:
    """How rare each token is among the lines of a file."""
    try:
        lines = Path(path).expanduser().read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidArgumentError(
            f"`idf` must name a file with a text on each line; got {path!r}: {error.strerror}"
        ) from error
    texts = [line for line in lines if line.strip()]
    if not texts:
        raise InvalidArgumentError(f"`idf` must name a file with texts; {path!r} has none")
    count = Counter(token for ids in encoder.tokens(texts) for token in set(ids))
    size = len(texts) + 1
    return _Weights(
        {token: math.log(size / (found + 1)) for token, found in count.items()}, math.log(size)
    )


@cache
def _baseline(path: str, layer: int | None) -> tuple[float, float, float]:
    """Precision, recall and F of unrelated texts at a layer."""
    try:
        with Path(path).expanduser().open(encoding="utf-8", newline="") as file:
            rows = {row["LAYER"]: row for row in csv.DictReader(file)}
        found = rows[str(layer)]
        return float(found["P"]), float(found["R"]), float(found["F"])
    except (OSError, KeyError, ValueError) as error:
        raise InvalidArgumentError(
            f"`baseline` must name a CSV file with columns LAYER, P, R and F, and a row for layer "
            f"{layer}; got {path!r}: {error}"
        ) from error
