"""Pairs of texts on which the metrics are compared with independent implementations."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from nltk.corpus.reader import WordNetCorpusReader

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


SYNSETS = (
    # part of speech, words that share the sense
    ("n", ("car", "auto", "automobile", "motor_car")),
    ("n", ("car", "railcar", "railway_car")),
    ("n", ("man", "adult_male")),
    ("n", ("dog", "hound", "Canis_familiaris")),
    ("n", ("Paris", "capital_of_France")),
    ("n", ("run", "tally")),
    ("n", ("wolf",)),
    ("n", ("box", "chest")),
    ("v", ("run", "scat", "scarper")),
    ("v", ("go", "run", "move", "travel")),
    ("v", ("purchase", "buy")),
    ("v", ("hop", "jump", "leap")),
    ("a", ("large", "big")),
    ("s", ("galore(ip)", "abounding")),
    ("s", ("huge", "immense", "vast(a)")),
    ("r", ("quickly", "rapidly", "speedily")),
    ("r", ("good", "well")),
    ("a", ("good", "well(p)", "sound")),
    ("n", ("café", "coffeehouse")),
)
EXCEPTIONS = {
    "noun": {"wolves": ["wolf"], "men": ["man"]},
    "verb": {"ran": ["run"], "went": ["go"], "bought": ["buy"]},
    "adj": {"better": ["good", "well"]},
    "adv": {"best": ["well"]},
}


@pytest.fixture(scope="session")
def wordnet_folder(tmp_path_factory):
    """Write a small WordNet in the format of the real one."""
    folder = tmp_path_factory.mktemp("nltk_data") / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    parts = {"noun": "n", "verb": "v", "adj": "as", "adv": "r"}
    licence = "  1 This is a licence, which every data and index file begins with.  \n"
    for part, kinds in parts.items():
        data = licence
        senses: dict[str, list[int]] = {}
        for kind, words in SYNSETS:
            if kind in kinds:
                offset = len(data.encode())
                listed = " ".join(f"{word} 0" for word in words)
                # a satellite adjective points to its head; the first adjective will do
                head = len(licence.encode())
                pointers = f"001 & {head:08d} a 0000" if kind == "s" else "000"
                frames = " 01 + 02 00" if part == "verb" else ""
                data += f"{offset:08d} 00 {kind} {len(words):02x} {listed} {pointers}{frames} | a gloss  \n"
                for word in words:
                    name = word.partition("(")[0].lower()
                    senses.setdefault(name, []).append(offset)
        index = licence
        for word, offsets in sorted(senses.items()):
            places = " ".join(f"{offset:08d}" for offset in offsets)
            index += f"{word} {kinds[0]} {len(offsets)} 2 @ ~ {len(offsets)} 0 {places}  \n"
        (folder / f"data.{part}").write_text(data, encoding="utf-8", newline="")
        (folder / f"index.{part}").write_text(index, encoding="utf-8", newline="")
        lines = (" ".join([form, *base]) + "\n" for form, base in EXCEPTIONS[part].items())
        (folder / f"{part}.exc").write_text("".join(lines), encoding="utf-8")
    (folder / "lexnames").write_text("00\tall\t3\n", encoding="utf-8")
    return folder


class OneWordNet(WordNetCorpusReader):
    """NLTK's reader, not told to map its senses to those of WordNet 3.0, which is not here."""

    def map_wn(self, version="wordnet"):
        return {version: None}


@pytest.fixture
def nltk_wordnet(wordnet_folder, monkeypatch):
    """The small WordNet as NLTK reads it."""
    # NLTK reads only what lies where it is told that its data are
    monkeypatch.setenv("NLTK_DATA", str(wordnet_folder.parent.parent))
    with pytest.warns(UserWarning, match="multilingual functions"):
        return OneWordNet(str(wordnet_folder), None)


# where a real WordNet may lie: as told, or as Debian's wordnet-base and NLTK's downloader put it
WORDNETS = (
    os.environ.get("STEELYARD_WORDNET", ""),
    "/usr/share/wordnet",
    "/usr/share/nltk_data/corpora/wordnet",
    str(Path("~/nltk_data/corpora/wordnet").expanduser()),
)


@pytest.fixture(scope="session")
def real_wordnet_folder(tmp_path_factory):
    """Copy the WordNet of this machine to where NLTK reads it."""
    found = [place for place in WORDNETS if place and (Path(place) / "index.noun").is_file()]
    if not found:
        pytest.skip("no WordNet on this machine: STEELYARD_WORDNET may name its folder")
    folder = tmp_path_factory.mktemp("real_nltk_data") / "corpora" / "wordnet"
    shutil.copytree(found[0], folder)
    if not (folder / "lexnames").exists():
        # Debian leaves out the names of the lexicographers' files, which NLTK wants to see
        names = "".join(f"{number:02d}\tfile{number}\t1\n" for number in range(45))
        (folder / "lexnames").write_text(names, encoding="utf-8")
    return folder


@pytest.fixture
def real_nltk_wordnet(real_wordnet_folder, monkeypatch):
    """The WordNet of this machine as NLTK reads it."""
    monkeypatch.setenv("NLTK_DATA", str(real_wordnet_folder.parent.parent))
    with pytest.warns(UserWarning, match="multilingual functions"):
        return OneWordNet(str(real_wordnet_folder), None)


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
