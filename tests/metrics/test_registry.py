from dataclasses import dataclass
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.metrics import PairMetric, available, registry, score
from steelyard.metrics.bleu import Bleu
from steelyard.metrics.rouge import RougeL


@dataclass(frozen=True, kw_only=True)
class Shout(PairMetric):
    """Shout: whether the output is in capitals."""

    volume: float = 1.0

    def pair_scores(self, pairs):
        return np.array([self.volume * pairs.texts[text].isupper() for text in pairs.output])


@pytest.fixture
def installed(monkeypatch):
    """Make a package look installed that declares the given entry points."""

    def declare(**points):
        found = [EntryPoint(name, value, registry.GROUP) for name, value in points.items()]
        monkeypatch.setattr(registry, "entry_points", lambda **_: found)
        monkeypatch.setattr(EntryPoint, "load", load)

    original = EntryPoint.load

    def load(point):
        return {"here:Shout": Shout, "here:text": "text"}.get(point.value) or original(point)

    return declare


def test_every_available_metric_has_a_description_and_scores():
    descriptions = available()
    assert {"rouge-1", "rouge-2", "rouge-l", "bleu", "chrf", "token-f1", "vecsim"} <= set(
        descriptions
    )
    assert all(line.endswith(".") and len(line) > 20 for line in descriptions.values())
    # some need models that are not part of any package
    names = [name for name in descriptions if not registry.metric(name).libraries]
    assert len(names) >= 14
    for column in score(["a cat"], ["the cat"], metrics=names).values():
        assert np.isfinite(column).all()


def test_a_specification_sets_options_by_name_or_by_value():
    assert registry.metric("rouge-l:stem,recall,mean") == RougeL(
        stem=True, statistic="recall", references="mean"
    )
    assert registry.metric(
        "bleu:smooth=floor, smooth-value=0.2,order=2,effective-order=no"
    ) == Bleu(smooth="floor", smooth_value=0.2, order=2, effective_order=False)


def test_a_package_adds_a_metric_by_an_entry_point(installed):
    installed(shout="here:Shout")
    assert available()["shout"] == "Shout: whether the output is in capitals."
    got = score(["A", "a"], ["a", "a"], metrics=["shout:volume=11"])
    assert got["shout:volume=11"].tolist() == [11.0, 0.0]


def test_a_package_cannot_redefine_a_built_in_name(installed):
    installed(**{"rouge-l": "here:Shout"})
    assert registry.metric("rouge-l") == RougeL()
    assert available()["rouge-l"].startswith("ROUGE-L")


def test_an_entry_point_must_name_a_metric(installed):
    installed(text="here:text")
    with pytest.raises(InvalidArgumentError, match="'text' must be declared as a subclass of"):
        score(["a"], ["a"], metrics=["text"])


@pytest.mark.parametrize("value", ["no_such_package:Metric", "steelyard.metrics:NoSuchMetric"])
def test_a_broken_package_is_named_and_hides_no_other_metric(installed, value):
    installed(broken=value)
    with pytest.raises(MissingDependencyError, match=r"'broken' is declared as .*cannot be loaded"):
        score(["a"], ["a"], metrics=["broken"])
    assert "cannot be loaded" in available()["broken"]
    assert available()["rouge-l"].startswith("ROUGE-L")


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("rogue-l", r"'rogue-l' is not known \(did you mean 'rouge-l'\?\); known are rouge-1, "),
        ("", "'' is not known; known are"),
        ("rouge-l:steam", r"'rouge-l' has no option 'steam' \(did you mean 'stem'\?\); it knows "),
        ("rouge-l:depth=2", "'rouge-l' has no option 'depth=2'.*references=best|mean, statistic="),
        ("rouge-l:stem,stem", "'rouge-l' takes each option once; got 'stem' again in 'stem'"),
        ("rouge-l:precision,recall", "got 'statistic' again in 'recall'"),
        ("rouge-l:stem=maybe", "'rouge-l' needs yes or no in 'stem=maybe'; got 'maybe'"),
        ("bleu:smooth=soft", "'bleu' needs one of exp, floor, add-k, none, omit in 'smooth=soft'"),
        ("bleu:order=x", "'bleu' needs a whole number in 'order=x'; got 'x'"),
        ("bleu:smooth-value=x", "'bleu' needs a number in 'smooth-value=x'; got 'x'"),
        ("vecsim:embed=f", "'vecsim' has no option 'embed=f'"),
    ],
)
def test_says_what_is_wrong_with_a_specification(specification, message):
    with pytest.raises(InvalidArgumentError, match=message):
        registry.metric(specification)
