"""The metrics that are known by name: the built-in ones and those of installed packages."""

import inspect
from importlib.metadata import EntryPoint, entry_points

from steelyard.errors import InvalidArgumentError, MissingDependencyError, SteelyardError
from steelyard.metrics.metric import Metric
from steelyard.metrics.specification import close_match, configured, name_and_options

__all__ = ["GROUP", "available", "metric"]

GROUP = "steelyard.metrics"

# Modules are named, not imported: a metric's libraries are loaded when the metric is used.
_BUILT_IN = {
    "rouge-1": "rouge:Rouge1",
    "rouge-2": "rouge:Rouge2",
    "rouge-l": "rouge:RougeL",
    "rouge-lsum": "rouge_lsum:RougeLsum",
    "bleu": "bleu:Bleu",
    "chrf": "chrf:Chrf",
    "chrf++": "chrf:ChrfPlusPlus",
    "ter": "ter:Ter",
    "meteor": "meteor:Meteor",
    "edit": "edit:Edit",
    "exact-match": "exact_match:ExactMatch",
    "token-f1": "token_f1:TokenF1",
    "length-ratio": "length_ratio:LengthRatio",
    "vecsim": "vecsim:VecSim",
    "sentence-similarity": "vecsim:SentenceSimilarity",
    "bert-score": "bert_score:BertScore",
}


def available() -> dict[str, str]:
    """Name and one-line description of every metric that can be asked for.

    Returns
    -------
    dict of str to str
        Built-in metrics first, then those of installed packages.

    Examples
    --------
    >>> available()["rouge-l"]
    'ROUGE-L: longest common subsequence of words.'
    """
    descriptions = {}
    for name, point in (_built_in() | _installed()).items():
        try:
            first_line = (inspect.getdoc(_loaded(point)) or "").partition("\n")[0]
        except SteelyardError as error:
            # one broken package must not hide the other metrics
            first_line = str(error)
        descriptions[name] = first_line or "No description."
    return descriptions


def metric(specification: str) -> Metric:
    """Make the metric that a specification describes.

    Parameters
    ----------
    specification : str
        A name, or a name and its options: ``bleu``, ``rouge-l:stem,mean``.

    Returns
    -------
    Metric

    Raises
    ------
    InvalidArgumentError
        If the metric or one of its options is not known.
    MissingDependencyError
        If the package that declares the metric cannot be loaded.

    Examples
    --------
    >>> metric("rouge-1:recall")
    Rouge1(references='best', statistic='recall', stem=False, tokens='rouge')
    """
    name, options = name_and_options(specification)
    # looking through the installed packages takes longer than scoring a few texts
    known = _built_in() if name in _BUILT_IN else _built_in() | _installed()
    if name not in known:
        raise InvalidArgumentError(
            f"`metrics`: {name!r} is not known{close_match(name, known)}; "
            f"known are {', '.join(known)}"
        )
    return configured(_loaded(known[name]), options, name=name)


def _built_in() -> dict[str, EntryPoint]:
    return {
        name: EntryPoint(name=name, value=f"{__package__}.{place}", group=GROUP)
        for name, place in _BUILT_IN.items()
    }


def _installed() -> dict[str, EntryPoint]:
    # a package cannot change what a built-in name means: numbers must mean the same everywhere
    points = [point for point in entry_points(group=GROUP) if point.name not in _BUILT_IN]
    return {point.name: point for point in points}


def _loaded(point: EntryPoint) -> type[Metric]:
    try:
        kind = point.load()
    except (ImportError, AttributeError) as error:
        raise MissingDependencyError(
            f"`metrics`: {point.name!r} is declared as {point.value}, which cannot be loaded "
            f"({error}): repair or remove the package that declares it"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Metric)):
        raise InvalidArgumentError(
            f"`metrics`: {point.name!r} must be declared as a subclass of "
            f"steelyard.metrics.Metric; got {point.value}: correct the package that declares it"
        )
    return kind
