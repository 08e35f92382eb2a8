"""The metrics beside the libraries they agree with: pairs of texts that are new to both, so that no cache answers."""

import numpy as np
from nltk.translate.meteor_score import meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER

from benchmarks.speed.inputs import VOCABULARY
from steelyard.metrics.tokenizers import WordTokenizer

_WORDS = 55
_ENDINGS = ["", "", "", "s", "ed", "ing", "ation", "ly", "ness", ",", ".", "'s", "-2", ".5"]
_ROUGES = ["rouge-1", "rouge-2", "rouge-l"]


class NoSynonyms:
    """Stands for a WordNet without entries, so that NLTK needs no data."""

    def synsets(self, _word):
        return []


def pairs_of_texts(rng, count):
    """Outputs and references: words of English-like lengths and endings, drawn by Zipf's law.

    An output keeps about half of the words of its reference, and two of its parts change places.
    """
    letters = list("etaoinshrdlucmfwypvbgk")
    stems = ["".join(rng.choice(letters, size=n)) for n in rng.integers(2, 9, size=VOCABULARY)]
    words = np.char.add(stems, rng.choice(_ENDINGS, size=VOCABULARY))
    frequency = 1 / np.arange(1, VOCABULARY + 1)
    frequency /= frequency.sum()
    outputs, references = [], []
    for _ in range(count):
        reference, other = rng.choice(VOCABULARY, size=(2, _WORDS), p=frequency)
        output = np.where(rng.random(_WORDS) < 0.5, reference, other)
        low, middle, high = np.sort(rng.integers(0, _WORDS, size=3))
        moved = [output[:low], output[middle:high], output[low:middle], output[high:]]
        outputs.append(" ".join(words[np.concatenate(moved)]))
        references.append(" ".join(words[reference]))
    return outputs, references


def contests():
    """Our names of each metric of `METRICS`, in its order, and the peer's function of output and reference."""
    names = ["rouge1", "rouge2", "rougeL"]
    rouge, stemmed = RougeScorer(names), RougeScorer(names, use_stemmer=True)
    bleu, chrf, ter = BLEU(effective_order=True), CHRF(), TER()
    split, nothing = WordTokenizer().tokens, NoSynonyms()
    return [
        (_ROUGES, lambda o, r: rouge.score(r, o)),
        ([f"{name}:stem" for name in _ROUGES], lambda o, r: stemmed.score(r, o)),
        (["bleu"], lambda o, r: bleu.sentence_score(o, [r])),
        (["chrf"], lambda o, r: chrf.sentence_score(o, [r])),
        (["ter"], lambda o, r: ter.sentence_score(o, [r])),
        (
            ["meteor"],
            lambda o, r: meteor_score([split(r)], split(o), wordnet=nothing),
        ),
    ]
