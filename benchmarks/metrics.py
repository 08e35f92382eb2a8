"""Rates of the metrics beside those of the libraries they agree with, in one run.

    python benchmarks/metrics.py [--pairs 12000] [--repeat 3]

Rates are pairs per second of processor time (VecSim: texts per second), which other programs
hardly disturb and which counts every thread; of several rounds the fastest counts, ours and the
peer's in turn. Both see the same pairs of 55 words; a peer that is slow sees fewer of them.
Every pair is new to both, so that no cache answers for either.
"""

import argparse
import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from nltk.translate.meteor_score import meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER

from steelyard.metrics import score
from steelyard.metrics.static_vectors import packaged_vectors
from steelyard.metrics.tokenizers import WhitespaceTokenizer

WORDS_PER_TEXT = 55
VOCABULARY = 20_000

Pair = tuple[str, str]


@dataclass(frozen=True)
class Contest:
    """A metric, its peer, how many pairs the peer can be given, and the ratio to reach."""

    name: str
    metrics: Sequence[str]
    peer: str
    theirs: Callable[[Sequence[Pair]], object]
    share: float
    target: float | None = None


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
            "ROUGE-1, 2, L",
            rouges,
            "rouge-score",
            per_pair(lambda o, r: rouge.score(r, o)),
            0.1,
            30,
        ),
        Contest(
            "ROUGE-1, 2, L stemmed",
            [f"{name}:stem" for name in rouges],
            "rouge-score",
            per_pair(lambda o, r: stemmed.score(r, o)),
            0.05,
        ),
        Contest(
            "BLEU",
            ["bleu"],
            "sacrebleu",
            per_pair(lambda o, r: bleu.sentence_score(o, [r])),
            0.25,
            10,
        ),
        Contest(
            "chrF", ["chrf"], "sacrebleu", per_pair(lambda o, r: chrf.sentence_score(o, [r])), 0.1
        ),
        Contest(
            "TER",
            ["ter"],
            "sacrebleu",
            per_pair(lambda o, r: ter.sentence_score(o, [r])),
            0.005,
            20,
        ),
        Contest(
            "METEOR",
            ["meteor:whitespace,wordnet=none"],
            "nltk",
            per_pair(lambda o, r: meteor_score([split(r)], split(o), wordnet=nothing)),
            0.1,
            10,
        ),
    ]


def rate(run: Callable[[], object], count: int) -> float:
    """Units of work per second of processor time."""
    start = time.process_time()
    run()
    return count / (time.process_time() - start)


def one_round(contest: Contest, pairs: Sequence[Pair]) -> tuple[float, float]:
    """Rates of ours and of the peer on the same pairs."""
    outputs, references = zip(*pairs, strict=True)
    few = pairs[: max(1, int(contest.share * len(pairs)))]
    return (
        rate(lambda: score(outputs, references, metrics=contest.metrics), len(pairs)),
        rate(lambda: contest.theirs(few), len(few)),
    )


def main(arguments=()) -> None:
    """Print a table of rates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=12_000, help="pairs of texts in a round")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    # run by name from `python -m benchmarks`, there are no options
    options = parser.parse_args(arguments)
    rounds = range(options.repeat)
    logging.getLogger("absl").setLevel(logging.ERROR)
    rng = np.random.default_rng(55)
    words = vocabulary(rng)
    # the first call reads weights and imports libraries, as many texts do more than a few
    packaged_vectors()
    outputs, references = zip(*pairs_of_texts(rng, words, 100), strict=True)
    score(outputs, references, metrics=["vecsim", "ter", "bleu"])

    print(f"{WORDS_PER_TEXT}-word texts, {options.pairs} pairs a round, best of {options.repeat}")
    print(f"{'metric':<24}{'peer':<14}{'ours/s':>10}{'peer/s':>10}{'ratio':>8}{'target':>8}")
    for contest in contests():
        ours, theirs = zip(
            *(one_round(contest, pairs_of_texts(rng, words, options.pairs)) for _ in rounds),
            strict=True,
        )
        target = f">= {contest.target:g}" if contest.target else ""
        print(
            f"{contest.name:<24}{contest.peer:<14}{max(ours):>10,.0f}{max(theirs):>10,.0f}"
            f"{max(ours) / max(theirs):>8.1f}{target:>8}"
        )
    weighted = Contest("", ["meteor:1.5,wordnet=none"], "", list, 1.0)
    few = max(1, options.pairs // 20)
    alone = max(one_round(weighted, pairs_of_texts(rng, words, few))[0] for _ in rounds)
    print(f"{'METEOR 1.5':<24}{'':<14}{alone:>10,.0f}")
    vectors = Contest("", ["vecsim"], "", list, 1.0)
    pairs_per_second = max(
        one_round(vectors, pairs_of_texts(rng, words, options.pairs))[0] for _ in rounds
    )
    print(f"{'VecSim, texts':<24}{'':<14}{2 * pairs_per_second:>10,.0f}{'':>18}{'>= 15000':>10}")


if __name__ == "__main__":
    main(sys.argv[1:])
