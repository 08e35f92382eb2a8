"""The metrics beside the libraries they agree with: pairs of texts that are new to both, so that no cache answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from nltk.translate.meteor_score import meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER

from steelyard.metrics.tokenizers import WhitespaceTokenizer

WORDS_PER_TEXT = 55
VOCABULARY = 20_000

Pair = tuple[str, str]


@dataclass(frozen=True)
class Contest:
    """A metric and its peer."""

    name: str
    metrics: Sequence[str]
    peer: str
    theirs: Callable[[Sequence[Pair]], object]


class NoSynonyms:
    """Stands for a WordNet without entries, so that NLTK needs no data."""

    def synsets(self, _word):
        return []


def vocabulary(rng: np.random.Generator) -> np.ndarray:
    """Words of English-like lengths and endings, and punctuation attached to some of them."""
    letters = list("etaoinshrdlucmfwypvbgk")
    endings = ["", "", "", "s", "ed", "ing", "ation", "ly", "ness", ",", ".", "'s", "-2", ".5"]
    lengths = rng.integers(2, 9, size=VOCABULARY)
    stems = ["".join(rng.choice(letters, size=length)) for length in lengths]
    ends = rng.choice(endings, size=VOCABULARY)
    return np.array([stem + end for stem, end in zip(stems, ends, strict=True)])


def pairs_of_texts(rng: np.random.Generator, words: np.ndarray, count: int) -> list[Pair]:
    """Draw references by Zipf's law, and outputs that keep about half of the words in place."""
    frequency = 1 / np.arange(1, VOCABULARY + 1)
    frequency /= frequency.sum()
    pairs = []
    for _ in range(count):
        reference = rng.choice(VOCABULARY, size=WORDS_PER_TEXT, p=frequency)
        output = np.where(
            rng.random(WORDS_PER_TEXT) < 0.5,
            reference,
            rng.choice(VOCABULARY, size=WORDS_PER_TEXT, p=frequency),
        )
        low, middle, high = np.sort(rng.integers(0, WORDS_PER_TEXT, size=3))
        moved = np.concatenate(
            [output[:low], output[middle:high], output[low:middle], output[high:]]
        )
        pairs.append((" ".join(words[moved]), " ".join(words[reference])))
    return pairs


def contests() -> list[Contest]:
    """Set up every peer."""
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"])
    stemmed = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    bleu, chrf, ter = BLEU(effective_order=True), CHRF(), TER()
    split = WhitespaceTokenizer().tokens
    nothing = NoSynonyms()

    def per_pair(one):
        return lambda pairs: [one(output, reference) for output, reference in pairs]

    rouges = ["rouge-1", "rouge-2", "rouge-l"]
    return [
        Contest(
            "ROUGE-1, 2 and L", rouges, "rouge-score", per_pair(lambda o, r: rouge.score(r, o))
        ),
        Contest(
            "ROUGE-1, 2 and L, stemmed",
            [f"{name}:stem" for name in rouges],
            "rouge-score",
            per_pair(lambda o, r: stemmed.score(r, o)),
        ),
        Contest("BLEU", ["bleu"], "sacrebleu", per_pair(lambda o, r: bleu.sentence_score(o, [r]))),
        Contest("chrF", ["chrf"], "sacrebleu", per_pair(lambda o, r: chrf.sentence_score(o, [r]))),
        Contest("TER", ["ter"], "sacrebleu", per_pair(lambda o, r: ter.sentence_score(o, [r]))),
        Contest(
            "METEOR, words and stems",
            ["meteor:whitespace,wordnet=none"],
            "nltk",
            per_pair(lambda o, r: meteor_score([split(r)], split(o), wordnet=nothing)),
        ),
    ]
