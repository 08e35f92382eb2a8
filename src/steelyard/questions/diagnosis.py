"""The diagnosis of metrics and raters under one prompt, as it is shown and published."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import InvalidArgumentError, UnknownNameError
from steelyard.html_table import html_table
from steelyard.numbers import interval, number
from steelyard.questions.judge_bias import CalibrationPoint, ColumnBias, PassFail
from steelyard.questions.judge_moments import Value
from steelyard.results import ResultTable, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Diagnoses",
    "Diagnosis",
    "JudgeDiagnosis",
    "RankAgreement",
    "RaterDiagnosis",
    "SystemOffset",
    "VarianceShare",
]

_COLUMNS = ("prompt", "metric", "correlation", "worth", "favours", "biased_by", "wrong_pairs")


@dataclass(frozen=True, kw_only=True)
class SystemOffset:
    """How much a metric favours a system, beside the others.

    Attributes
    ----------
    system : str
        The system.
    metric : float
        Mean of the metric over its pool.
    on_human_scale : float
        The same on the human scale: the mean of the human scores of all systems, plus what the metric
        makes of the system's difference from them.
    human : Value
        Its mean human score.
    offset : Value or None
        The metric's difference of this system from the mean of the others, on the human scale, less the
        human one. None with one system.
    is_clear : bool
        Whether the offset is there for sure, all systems considered.
    """

    system: str
    metric: float
    on_human_scale: float
    human: Value
    offset: Value | None
    is_clear: bool


@dataclass(frozen=True, kw_only=True)
class RankAgreement:
    """Whether a metric orders systems as people do.

    Attributes
    ----------
    alike : Value
        Share of all pairs that are ordered alike.
    decided : int
        Pairs that people tell apart.
    wrong : tuple of (str, str)
        Of these, the pairs that the metric orders the other way round, the better system first.
    """

    alike: Value
    decided: int
    wrong: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class JudgeDiagnosis:
    """A metric or judge beside the people.

    Attributes
    ----------
    metric : str
        Its name.
    sentence : str
        What it comes to.
    correlation : Value
        With the human score, within systems, corrected for raters' noise where some outputs have second
        judgments.
    worth : Value
        Share of the judgments that it saves.
    perfect, noiseless : Value
        What a metric that is the human score itself would save, and what this one would if raters always
        agreed.
    scale : Value or None
        How much it differs where human scores differ by 1; None for one on another scale.
    kappa : Value or None
        Agreement with one rater (quadratic weights); None for one on another scale.
    offsets : tuple of SystemOffset
        Which systems it favours; none where the metric does not clearly go with the human scores, and so
        cannot be put on their scale.
    self_preference : Value or None
        How much it favours the systems of its own family beside the others, where they are named.
    biases : tuple of ColumnBias
        What else it is biased towards.
    ranks : RankAgreement or None
        Whether it orders systems as people do; None with one system.
    pass_fail : PassFail or None
        Sensitivity and specificity, where judge and people say pass or fail.
    calibration : tuple of CalibrationPoint
        The mean human score in bands of it.
    """

    metric: str
    sentence: str
    correlation: Value
    worth: Value
    perfect: Value
    noiseless: Value
    scale: Value | None
    kappa: Value | None
    offsets: tuple[SystemOffset, ...]
    self_preference: Value | None
    biases: tuple[ColumnBias, ...]
    ranks: RankAgreement | None
    pass_fail: PassFail | None
    calibration: tuple[CalibrationPoint, ...]

    @property
    def favours(self) -> tuple[SystemOffset, ...]:
        """The systems that it favours or disfavours for sure, the most first."""
        clear = [one for one in self.offsets if one.is_clear and one.offset is not None]
        return tuple(sorted(clear, key=lambda one: -abs(one.offset.value) if one.offset else 0.0))

    @property
    def is_compressed(self) -> bool:
        """Whether it makes differences smaller than people do, for sure."""
        return self.scale is not None and self.scale.high < 1 and self.scale.value < _COMPRESSED


# A scale is called compressed below this.
_COMPRESSED = 0.9


@dataclass(frozen=True, kw_only=True)
class RaterDiagnosis:
    """A rater's leniency beside the others', in units of the scores.

    Attributes
    ----------
    rater : str
        Who.
    leniency : Value
        The prediction, drawn towards 0 as far as little is known of the rater.
    n_judgments : int
        Judgments of this rater.
    """

    rater: str
    leniency: Value
    n_judgments: int


@dataclass(frozen=True, kw_only=True)
class VarianceShare:
    """The share of an effect in the variance of judgments within systems."""

    effect: str
    share: Value


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What the judgments under one prompt say about metrics and raters.

    Attributes
    ----------
    prompt : str
        The prompt.
    sentence : str
        The answer in one sentence: that of the most useful metric.
    holds_back : str
        What holds back, the metric or the raters, in one sentence.
    judges : tuple of JudgeDiagnosis
        The metrics, the most useful first.
    agreement : Value
        Agreement of people with one another: Krippendorff's alpha with squared distances, which is kappa
        with quadratic weights between two raters.
    noise_share : Value
        Share of the variance of single judgments of a system's outputs that is disagreement of raters about
        one output, leniency apart.
    raters : tuple of RaterDiagnosis
        The most lenient first; none where nobody knows them.
    variances : tuple of VarianceShare
        The shares of all effects, the largest first.
    n_outputs, n_judgments, n_repeats : int
        Judged outputs, judgments, and judgments beyond the first of an output.
    level : float
        Confidence level.
    notes : tuple of str
        What a reader must know.
    """

    prompt: str
    sentence: str
    holds_back: str
    judges: tuple[JudgeDiagnosis, ...]
    agreement: Value
    noise_share: Value
    raters: tuple[RaterDiagnosis, ...]
    variances: tuple[VarianceShare, ...]
    n_outputs: int
    n_judgments: int
    n_repeats: int
    level: float
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        found: dict[str, Any] = _listed(asdict(self))
        return found

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how much the most useful metric favours each system.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.questions.judge_plots import plot_offsets  # noqa: PLC0415

        return plot_offsets(self.judges, ax)

    def __repr__(self) -> str:
        return f"<Diagnosis, prompt {self.prompt}: {self.sentence}>"

    def _repr_html_(self) -> str:
        names = ("metric", "correlation", "worth", "what it comes to")
        rows = [
            (one.metric, shown(one.correlation), shown(one.worth, share=True), one.sentence)
            for one in self.judges
        ]
        below = (f"prompt {self.prompt}: {self.holds_back}", *self.notes)
        return html_table(names, rows, right=(False, True, True, False), below=below)


class Diagnoses(ResultTable[Diagnosis]):
    """A list of diagnoses, one for each prompt; its table has a row for each metric."""

    def __init__(
        self, found: Iterable[Diagnosis] = (), *, columns: Sequence[str] = _COLUMNS
    ) -> None:
        super().__init__(found, columns=columns)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how much each metric favours each system, under the first prompt.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if not self:
            raise InvalidArgumentError("nothing to draw: there are no results")
        return self[0].plot(ax)

    def _named(self, key: str | tuple[str, str]) -> Diagnosis:
        found = [one for one in self if one.prompt == key]
        if not found:
            known = ", ".join(one.prompt for one in self)
            raise UnknownNameError(f"no diagnosis has prompt {key!r}; there are: {known or 'none'}")
        return found[0]

    def _extent(self) -> str:
        return f": {listed('prompt', (one.prompt for one in self))}" if self else ""

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "prompt": one.prompt,
                "metric": judge.metric,
                "correlation": judge.correlation.value,
                "worth": judge.worth.value,
                "favours": ", ".join(each.system for each in judge.favours),
                "biased_by": ", ".join(each.column for each in judge.biases if each.is_clear),
                "wrong_pairs": 0 if judge.ranks is None else len(judge.ranks.wrong),
            }
            for one in self
            for judge in one.judges
        ]

    def _below(self) -> tuple[str, ...]:
        notes = (note for one in self for note in one.notes)
        said = (f"prompt {one.prompt}: {one.sentence}" for one in self)
        return tuple(dict.fromkeys((*said, *notes)))


def shown(found: Value | None, *, share: bool = False) -> str:
    """Return a value with its interval as tables show it."""
    if found is None or not found.is_known:
        return "-"
    if share:
        return f"{found.value:.0%} [{found.low:.0%}, {found.high:.0%}]"
    return f"{number(found.value)} {interval(found.low, found.high)}"


def _listed(value: Any) -> Any:
    """Return the same with lists for tuples."""
    if isinstance(value, dict):
        return {key: _listed(one) for key, one in value.items()}
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value
