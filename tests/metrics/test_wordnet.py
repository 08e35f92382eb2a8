import zipfile

import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.wordnet import WordNet, wordnet_at

WORDS = (
    "car cars auto automobile motor_car man men dog dogs hound wolf wolves box boxes run runs ran "
    "running go goes went going buy bought buying hop hopped hopping large larger largest galore "
    "huge vast good better best well quickly café paris Paris CAR unknown s es ing"
)


def test_finds_words_that_share_a_sense(wordnet_folder):
    wordnet = WordNet(wordnet_folder)
    assert wordnet.synonyms("purchase") == {"purchase", "buy"}
    assert wordnet.synonyms("cars") == {"cars", "car", "auto", "automobile", "railcar"}
    # an irregular form of the verb only, so the noun's "tally" is not among them
    senses = {"run", "scat", "scarper", "go", "move", "travel"}
    assert wordnet.synonyms("ran") == {"ran"} | senses
    assert wordnet.synonyms("vast") == {"vast", "huge", "immense"}
    assert wordnet.synonyms("nothing") == {"nothing"}


def test_equals_nltk(wordnet_folder, nltk_wordnet):
    wordnet = WordNet(wordnet_folder)
    for word in WORDS.split():
        senses = nltk_wordnet.synsets(word)
        names = {lemma.name() for synset in senses for lemma in synset.lemmas()}
        assert wordnet.synonyms(word) == {name for name in names if "_" not in name} | {word}


def test_equals_nltk_on_a_real_wordnet(real_wordnet_folder, real_nltk_wordnet):
    wordnet = WordNet(real_wordnet_folder)
    lines = [
        line
        for part in ("noun", "verb", "adj", "adv")
        for name in (f"index.{part}", f"{part}.exc")
        for line in (real_wordnet_folder / name).read_text(encoding="utf-8").splitlines()
    ]
    words = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert len(words) > 100_000
    chosen = np.random.default_rng(3).choice(sorted(set(words)), size=5000, replace=False).tolist()
    for word in chosen + [word + ending for word in chosen[:1000] for ending in ("s", "ed", "ing")]:
        senses = real_nltk_wordnet.synsets(word)
        names = {lemma.name() for synset in senses for lemma in synset.lemmas()}
        assert wordnet.synonyms(word) == {name for name in names if "_" not in name} | {word}


def test_is_found_in_its_folder_in_nltk_data_and_in_an_archive(wordnet_folder, tmp_path):
    archive = tmp_path / "wordnet.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in wordnet_folder.iterdir():
            packed.write(file, f"wordnet/{file.name}")
    (tmp_path / "nltk_data" / "corpora").mkdir(parents=True)
    inside = tmp_path / "nltk_data" / "corpora" / "wordnet.zip"
    inside.write_bytes(archive.read_bytes())
    places = (wordnet_folder, wordnet_folder.parent.parent, archive, tmp_path / "nltk_data")
    for place in places:
        assert wordnet_at(str(place)).synonyms("big") == {"big", "large"}


def test_says_where_it_looked(tmp_path):
    not_an_archive = tmp_path / "text"
    not_an_archive.write_text("no archive")
    for place in (tmp_path, not_an_archive, tmp_path / "absent"):
        with pytest.raises(InvalidArgumentError, match=r"`wordnet` must name a folder .* got '.*'"):
            wordnet_at(str(place))
