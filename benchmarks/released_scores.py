"""Our metrics beside the scores that the paper's authors released for 2,000 MS MARCO answers.

    python -m benchmarks.released_scores [FOLDER]

FOLDER holds the paper's released data, ``msmarco.jsonl`` and ``msmarco_texts.jsonl``; by default
``../shared/paper``. The table gives Pearson and Spearman correlations over all answers of the four
systems, and the share of values that are the same to six digits. VecSim is also given with the
word vectors weighted, by inverse document frequency and by smooth inverse frequency (S. Arora,
Y. Liang, T. Ma 2017, A simple but tough-to-beat baseline for sentence embeddings, ICLR), the
frequencies being those in the references.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from steelyard.metrics import score
from steelyard.metrics.static_vectors import packaged_vectors
from steelyard.metrics.vecsim import VecSim

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "paper"
# released name, and our metric
ROWS = (
    ("rouge-1", "rouge-1"),
    ("rouge-1", "rouge-1:13a"),
    ("rouge-2", "rouge-2"),
    ("rouge-2", "rouge-2:13a"),
    ("rouge-l", "rouge-l"),
    ("rouge-l", "rouge-l:13a"),
    ("bleu", "bleu"),
    ("bleu", "bleu:order=2,omit"),
    ("ter", "ter"),
    ("ter", "ter:normalized"),
    ("meteor", "meteor:wordnet=none"),
    ("meteor", "meteor:1.5,wordnet=none"),
    ("sim", "vecsim"),
)


def released_answers(folder):
    """Outputs, references and released scores of the systems' answers."""
    answer = {}
    for line in (folder / "msmarco_texts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answer |= {(row["id"], system): row["answer"] for system in row["systems"]}
    outputs, references, released = [], [], []
    for line in (folder / "msmarco.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["system"] != "reference":
            outputs.append(answer[row["id"], row["system"]])
            references.append(answer[row["id"], "reference"])
            released.append(row["prompts"]["AnyCorrect"])
    return outputs, references, released


def weighted_vectors(references):
    """Embedding functions with weighted word vectors, by name."""
    plain = packaged_vectors()
    encoded = plain.tokens(references)
    size = len(plain.vectors)
    share = np.bincount(encoded.ids, minlength=size) / len(encoded.ids)
    text = np.repeat(np.arange(len(references)), encoded.length)
    seen = np.bincount(np.unique(text * size + encoded.ids) % size, minlength=size)
    rarity = np.log((len(references) + 1) / (seen + 1))

    def means(texts, weight):
        tokens = plain.tokens(texts)
        sums = np.zeros((len(texts), plain.vectors.shape[1]))
        owner = np.repeat(np.arange(len(texts)), tokens.length)
        np.add.at(sums, owner, weight[tokens.ids, None] * plain.vectors[tokens.ids])
        return sums / np.maximum(tokens.length, 1)[:, None]

    smooth = 1e-3 / (1e-3 + share)
    # the direction that all texts share
    common = np.linalg.svd(means(references, smooth), full_matrices=False)[2][0]

    def smooth_inverse(texts):
        found = means(texts, smooth)
        return found - np.outer(found @ common, common)

    return {
        "vecsim, idf weights": lambda texts: means(texts, rarity),
        "vecsim, SIF weights": lambda texts: means(texts, smooth),
        "vecsim, SIF without the common direction": smooth_inverse,
    }


def line(name, metric, ours, theirs):
    print(
        f"{name:<10}{metric:<44}{np.corrcoef(ours, theirs)[0, 1]:>8.3f}"
        f"{spearmanr(ours, theirs).statistic:>10.3f}{np.isclose(ours, theirs, atol=1e-6).mean():>8.0%}"
    )


def main():
    given = sys.argv[1:] if __name__ == "__main__" else []
    folder = Path(given[0]) if given else FOLDER
    if not (folder / "msmarco_texts.jsonl").exists():
        print(f"the paper's released data are not in {folder}: name their folder")
        return
    outputs, references, released = released_answers(folder)
    found = score(outputs, references, metrics=[metric for _, metric in ROWS])
    print(f"{'released':<10}{'ours':<44}{'Pearson':>8}{'Spearman':>10}{'equal':>8}")
    for name, metric in ROWS:
        line(name, metric, found[metric], [row[name] for row in released])
    theirs = np.array([row["sim"] for row in released])
    variants = {name: VecSim(embed=one) for name, one in weighted_vectors(references).items()}
    for name, values in score(outputs, references, metrics=variants).items():
        line("sim", name, values, theirs)
    known = theirs != 0
    print(f"\nreleased sim is 0 for {1 - known.mean():.0%} of the answers; without these:")
    line("sim", "vecsim", found["vecsim"][known], theirs[known])
    for name, values in score(outputs, references, metrics=variants).items():
        line("sim", name, values[known], theirs[known])


if __name__ == "__main__":
    main()
