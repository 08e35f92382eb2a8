"""Vectors of texts from transformer models that lie on this machine; nothing is fetched."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError, MissingDependencyError

__all__ = ["TokenEncoder", "TransformerEncoder", "sentence_vectors", "token_encoder"]

Vectors = NDArray[np.float32]

# Tokens, padding included, that a model works on at a time
_BATCH = 8192
# A tokenizer that knows no greatest length says so by a number with many digits.
_NO_LIMIT = 1_000_000
# These tokenizers tell a word at the start of a text from the same word after a space.
_PREFIXED = ("roberta", "gpt2", "bart", "longformer")

# Layers whose vectors agree best with human judgments (Zhang et al. 2020, and the table that the
# authors keep for later models), by the last part of a model's name
_BEST_LAYER = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "distilbert-base-uncased": 5,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "deberta-large-mnli": 18,
    "deberta-xlarge-mnli": 40,
}


class TokenEncoder(Protocol):
    """Whatever turns texts into tokens, and tokens into vectors.

    Attributes
    ----------
    special : frozenset of int
        Tokens that mark the ends of a text and are no part of it.
    """

    special: frozenset[int]

    def __hash__(self) -> int: ...

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokens of each text, those that mark its ends included."""
        ...

    def vectors(self, tokens: Sequence[Sequence[int]]) -> list[Vectors]:
        """Vectors of each text's tokens, an array of shape (n_tokens, dimension) of length 1."""
        ...


class TransformerEncoder:
    """Vectors of tokens in their context: the hidden states of one layer of a transformer.

    Parameters
    ----------
    model : str
        The model's folder, or its name in the local cache of Hugging Face's hub.
    layer : int, optional
        The layer, from 0 (before the first) to the last; by default the one that is known to be
        best for the model. Layers above it are not loaded.

    Attributes
    ----------
    layer : int
        The layer.
    special : frozenset of int
        Tokens that mark the ends of a text and are no part of it.

    Raises
    ------
    MissingDependencyError
        If torch or transformers are not installed, or the model is not on this machine.
    InvalidArgumentError
        If the model has no such layer, or no best one is known.
    """

    def __init__(self, model: str, *, layer: int | None = None) -> None:
        self._torch, transformers = _libraries("bert-score", "torch", "transformers")
        with _on_disk(model, "bert-score"), _quiet(transformers):
            config = transformers.AutoConfig.from_pretrained(model, local_files_only=True)
            self.layer = _checked_layer(model, layer, config.num_hidden_layers)
            config.num_hidden_layers = self.layer
            prefix = {"add_prefix_space": True} if config.model_type in _PREFIXED else {}
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
                model, local_files_only=True, **prefix
            )
            encoder: Any = transformers.AutoModel.from_pretrained(
                model, config=config, local_files_only=True
            )
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model = encoder.eval().to(self._device)
        limit = self._tokenizer.model_max_length
        # two of the positions may be kept for padding, as in RoBERTa
        self._limit = limit if limit < _NO_LIMIT else config.max_position_embeddings - 2
        self.special = frozenset(self._tokenizer("")["input_ids"])

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokens of each text, those that mark its ends included.

        Parameters
        ----------
        texts : sequence of str
            Texts; what is beyond the longest text that the model can read is cut off.

        Returns
        -------
        list of lists of int
        """
        # the tokenizer reads UTF-8, which half a surrogate pair does not have
        stripped = [text.strip().encode("utf-8", "replace").decode("utf-8") for text in texts]
        if not stripped:
            return []
        found = self._tokenizer(stripped, truncation=True, max_length=self._limit)["input_ids"]
        return [list(ids) for ids in found]

    def vectors(self, tokens: Sequence[Sequence[int]]) -> list[Vectors]:
        """Vectors of length 1 of each text's tokens.

        Parameters
        ----------
        tokens : sequence of sequences of int
            Tokens of each text.

        Returns
        -------
        list of (n_tokens, dimension) arrays of float
        """
        found: list[Vectors] = [np.empty((0, 0), dtype=np.float32)] * len(tokens)
        # texts of about one length go together: little is padded
        order = sorted(range(len(tokens)), key=lambda text: len(tokens[text]))
        for chosen in _padded_batches(order, [len(ids) for ids in tokens]):
            rows = [tokens[text] for text in chosen]
            for text, states in zip(chosen, self._states(rows), strict=True):
                found[text] = states[: len(tokens[text])]
        return found

    def _states(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Hidden states of texts, of shape (n_texts, longest, dimension), each of length 1."""
        torch = self._torch
        shape = len(rows), max(len(row) for row in rows)
        ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        with torch.inference_mode():
            states = self._model(
                input_ids=torch.from_numpy(ids).to(self._device),
                attention_mask=torch.from_numpy(mask).to(self._device),
            )[0]
            unit: Vectors = torch.nn.functional.normalize(states.float(), dim=-1).cpu().numpy()
        return unit


@cache
def token_encoder(model: str, layer: int | None) -> TransformerEncoder:
    """Load a transformer's layers, once in a process."""
    return TransformerEncoder(model, layer=layer)


@cache
def sentence_vectors(model: str) -> Callable[[list[str]], Vectors]:
    """Load a sentence-transformers model, once in a process.

    Parameters
    ----------
    model : str
        The model's folder, or its name in the local cache of Hugging Face's hub.

    Returns
    -------
    callable
        Takes a list of n texts, returns an (n, dimension) array; zeros for a blank text.

    Raises
    ------
    MissingDependencyError
        If sentence-transformers is not installed, or the model is not on this machine.
    """
    (library,) = _libraries("sentence-similarity", "sentence_transformers")
    with _on_disk(model, "sentence-similarity"), _quiet(import_module("transformers")):
        encoder = library.SentenceTransformer(model, local_files_only=True)

    def embed(texts: list[str]) -> Vectors:
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        # it sorts texts by length itself
        vectors: Vectors = encoder.encode(readable, batch_size=64, show_progress_bar=False)
        vectors[[not text.strip() for text in texts]] = 0
        return vectors

    return embed


def _padded_batches(order: Sequence[int], length: Sequence[int]) -> Iterator[list[int]]:
    """Cut texts, the shortest first, into batches of at most `_BATCH` tokens with padding."""
    chosen: list[int] = []
    for text in order:
        if chosen and (len(chosen) + 1) * length[text] > _BATCH:
            yield chosen
            chosen = []
        chosen.append(text)
    if chosen:
        yield chosen


def _checked_layer(model: str, layer: int | None, last: int) -> int:
    if layer is None:
        layer = _BEST_LAYER.get(Path(model).name)
    if layer is None:
        raise InvalidArgumentError(
            f"`layer` must be given for {model!r}, for which no best one is known: a number from "
            f"0 to {last}, its last; as layer={last}"
        )
    if not 0 <= layer <= last:
        raise InvalidArgumentError(
            f"`layer` must be a number from 0 to {last}, the last of {model!r}; got {layer}"
        )
    return layer


def _libraries(metric: str, *names: str) -> list[Any]:
    try:
        return [import_module(name) for name in names]
    except ImportError as error:
        raise MissingDependencyError(
            f"`metrics`: {metric!r} needs {' and '.join(names)} ({error}): "
            "pip install 'steelyard[neural]'"
        ) from error


@contextmanager
def _on_disk(model: str, metric: str) -> Iterator[None]:
    """Say in one line that a model is not on this machine."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise MissingDependencyError(
            f"`metrics`: {metric!r} finds no model {model!r} on this machine, and fetches none: "
            f"name its folder, as model=PATH, or fetch it once with: hf download {model}"
        ) from error


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Keep transformers from telling that weights above the layer are not used."""
    log = transformers.utils.logging
    before, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(before)
        if bars:
            log.enable_progress_bar()
