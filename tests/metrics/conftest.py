"""Pairs of texts on which the metrics are compared with independent implementations."""

import json
from pathlib import Path

import numpy as np
import pytest

PAPER = Path(__file__).resolve().parents[2].parent / "shared" / "paper"

_TEXT = (
    "the a an of to and in is it that was for on are with as his they at be this from I have or by "
    "one had not but what all were when we there can said which she their will each about how up "
    "out them then many some these would other into has more her two like him see time could no "
    "make than first been its who now people my made over did down only way find use may water "
    "long little very after words called just where most know running runs ran happily happiness "
    "relational relations dies died dying flies policies nationalization Analogously U.S. Dr. "
    "3.14 1,000 $5 50% 2-3 1990s e-mail don't it's John's (hello) [1] &amp; &lt;b&gt; &quot;ok&quot; "
    "... -- - , . ! ? : ; ' \" / a/b x_y <skipped> <s> naïve café Straße ΟΔΥΣΣΕΥΣ İstanbul "
    "привет мир 東京 都 日本語テキスト 我喜欢 한국어 हिन्दी ไทย 😀 👩‍👩‍👧 ❤️ ½ ² ﬁne é"
)
WORDS = _TEXT.split()
SPACES = (" ", " ", " ", " ", " ", "  ", "\n", "-\n", "\t", "\u00a0", "\u3000", "")


def random_text(rng: np.random.Generator, length: int) -> str:
    words = rng.choice(WORDS, size=length)
    spaces = rng.choice(SPACES, size=length)
    return "".join(word + space for word, space in zip(words, spaces, strict=True))


def perturbed(rng: np.random.Generator, words: list[str]) -> list[str]:
    """Drop, change, repeat and move words, as a system's output departs from its reference."""
    words = [word for word in words if rng.random() > 0.15]
    for place in np.flatnonzero(rng.random(len(words)) < 0.15):
        words[place] = str(rng.choice(WORDS))
    if len(words) > 6 and rng.random() < 0.6:
        low, middle, high = np.sort(rng.choice(len(words) + 1, size=3, replace=False))
        words = words[:low] + words[middle:high] + words[low:middle] + words[high:]
    return words


@pytest.fixture(scope="session")
def random_pairs() -> tuple[list[str], list[str]]:
    """2,000 pairs of unrelated texts of all sorts of characters, empty ones among them."""
    rng = np.random.default_rng(20180706)
    lengths = rng.integers(0, 40, size=(2000, 2))
    lengths[:20, 0] = 0
    lengths[10:30, 1] = 0
    pairs = [(random_text(rng, a), random_text(rng, b)) for a, b in lengths]
    outputs, references = zip(*pairs, strict=True)
    return list(outputs), list(references)


@pytest.fixture(scope="session")
def close_pairs() -> tuple[list[str], list[str]]:
    """2,000 references with outputs that share most of their words, partly out of order."""
    rng = np.random.default_rng(20180707)
    outputs, references = [], []
    for length in rng.integers(1, 60, size=2000):
        words = [str(word) for word in rng.choice(WORDS, size=length)]
        references.append(" ".join(words))
        outputs.append(" ".join(perturbed(rng, words)))
    return outputs, references


@pytest.fixture(scope="session")
def long_pair() -> tuple[str, str]:
    """A text of 10,000 words and an output that departs from it."""
    rng = np.random.default_rng(20180708)
    words = [str(word) for word in rng.choice(WORDS, size=10_000)]
    return " ".join(perturbed(rng, words)), " ".join(words)


@pytest.fixture(scope="session")
def answers() -> tuple[list[str], list[str], list[dict[str, float]]]:
    """Answers of the paper's MS MARCO systems, their references and their released scores."""
    texts_file = PAPER / "msmarco_texts.jsonl"
    if not texts_file.exists():
        pytest.skip(f"the paper's released answers are not at {texts_file}")
    answer = {}
    for line in texts_file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for system in row["systems"]:
            answer[row["id"], system] = row["answer"]
    outputs, references, released = [], [], []
    for line in (PAPER / "msmarco.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["system"] != "reference":
            outputs.append(answer[row["id"], row["system"]])
            references.append(answer[row["id"], "reference"])
            released.append(row["prompts"]["AnyCorrect"])
    return outputs, references, released
