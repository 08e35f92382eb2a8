"""The parts of a campaign file: every key with its type, its default and its bounds."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from steelyard.collect.config.declared import Declared, mistake, shown
from steelyard.questions.goal import Decide

__all__ = [
    "Documents",
    "FilePath",
    "Goal",
    "Gold",
    "Pay",
    "Quality",
    "Sample",
    "SampleOrFile",
    "Session",
    "Text",
    "WebAddress",
    "Welcome",
]


def _path(value: Any) -> Path:
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value:
        raise mistake((), f"must be the path of a file; got {shown(value)}")
    return Path(value)


def _share(value: Any) -> Any:
    if isinstance(value, dict):
        raise mistake(
            (),
            "is the share alone now: two scores agree that are at most a quarter of the scale apart",
        )
    return value


def _address(value: str) -> str:
    host = None
    with suppress(ValueError):
        place = urlsplit(value)
        is_plain = place.port != 0 and place.username is None and not place.fragment
        if is_plain and place.scheme in {"http", "https"}:
            host = place.hostname
    if not host or not value.isascii() or not value.isprintable() or " " in value:
        # it may hold a secret: it is not repeated
        raise mistake((), "must be like https://example.org/path, in plain letters")
    return value


def _only_address(value: Any) -> Any:
    if isinstance(value, dict):
        raise mistake((), "is the address alone now; a campaign stalls after an hour")
    return value


Text = Annotated[str, Field(min_length=1)]
WebAddress = Annotated[str, BeforeValidator(_only_address), AfterValidator(_address)]
Count = Annotated[int, Field(gt=0)]
Money = Annotated[float, Field(ge=0, le=1_000_000)]
FilePath = Annotated[Path, PlainValidator(_path)]


class Sample(Declared):
    """A sample to draw when the campaign starts.

    Attributes
    ----------
    n : int
        Outputs of each system; of pairs, items.
    seed : int
        Seed of the draw.
    same_items : bool
        Whether all systems are judged on the same items.
    systems : tuple of str or None
        Systems to judge; None: all. A pair task needs two.
    """

    n: Count
    seed: int = Field(ge=0)
    same_items: bool = True
    systems: tuple[Text, ...] | None = Field(strict=False, default=None, min_length=1)

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        names = self.systems or ()
        for position, name in enumerate(names):
            if name in names[:position]:
                raise mistake(("systems", position), f"{shown(name)} is there twice: keep one")
        return self


def _sample(value: Any) -> Sample | Path:
    if isinstance(value, Sample | Path):
        return value
    if isinstance(value, dict):
        return Sample.model_validate(value)
    if not isinstance(value, str) or not value:
        raise mistake((), f"must have n and seed, or be a file; got {shown(value)}")
    return Path(value)


SampleOrFile = Annotated[Sample | Path, PlainValidator(_sample)]


class Documents(Declared):
    """Outputs that are segments of documents: one rater gets all of a document, in order.

    Attributes
    ----------
    column : str
        Column of the outputs that names the document.
    order : str or None
        Column with the place of a segment; None: the order of the file.
    """

    gone = {"context": "the ten segments before are shown"}  # noqa: RUF012

    column: Text
    order: Text | None = None


class Goal(Declared):
    """When enough is known: a half-width to reach, or what a race is to decide.

    Attributes
    ----------
    half_width : float or None
        Half-width of the interval to reach.
    decide : {"best", "order", "difference"} or None
        What is to be known of the systems; those that need no more judgments get none.
    margin : float or None
        Differences up to this do not matter; with `decide`.
    level : float
        Probability with which each interval, and all verdicts together, hold at all looks.
    prompts : tuple of str
        Prompts that must reach it, for every system; all of the task if not given.
    budget : float or None
        Most that may be spent, in the currency of the pay; None: no limit.
    """

    gone = {  # noqa: RUF012 - a class variable of `Declared`
        "method": "intervals that hold at all times need no choice of a method any more; take it out"
    }

    half_width: float | None = Field(default=None, gt=0)
    decide: Decide | None = None
    margin: float | None = Field(default=None, gt=0)
    level: float = Field(default=0.95, gt=0, lt=1)
    prompts: tuple[str, ...] = Field(strict=False, default=())
    budget: Money | None = None

    @model_validator(mode="after")
    def _has_one_aim(self) -> Self:
        if (self.half_width is None) == (self.decide is None):
            raise mistake((), "must have either half_width or decide")
        if self.decide is None and self.margin is not None:
            raise mistake(("margin",), "goes with decide only")
        if self.decide == "difference" and self.margin is None:
            raise mistake(("margin",), "is needed to decide differences: the one that matters")
        if self.decide == "order" and self.margin is not None:
            raise mistake(("margin",), "does not go with order: use decide: difference")
        return self


class Session(Declared):
    """A visit; it ends after so many judgments, or when no work is left.

    Attributes
    ----------
    judgments : int or None
        Judgments of a visit.
    visits : int or None
        Visits of one participant in which something is judged; None: one, or any number where the
        panel gives out its work visit by visit (``external-question``).
    judgments_per_rater : int or None
        Judgments of one participant in all visits.
    hand_backs : int
        Texts that one participant may hand back because they cannot be judged.
    one_per_browser : bool
        Whether somebody is refused who comes under another name in a browser that has taken part.
    """

    gone = {  # noqa: RUF012
        "hand_backs_per_text": "a text is set aside when three raters handed it back"
    }

    judgments: Count | None = None
    visits: Count | None = None
    judgments_per_rater: Count | None = None
    hand_backs: int = Field(default=10, ge=0)
    one_per_browser: bool = False


class Pay(Declared):
    """What raters are paid.

    Attributes
    ----------
    currency : str
        Three letters.
    per_judgment : float
        For each output judged, under however many prompts.
    tutorial_bonus : float
        Once, for a tutorial that is passed.
    expected_seconds : float
        Time that an output is expected to take, of which raters are told.
    """

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    per_judgment: Money = 0.0
    tutorial_bonus: Money = 0.0
    expected_seconds: float | None = Field(default=None, gt=0)


class Quality(Declared):
    """Rules that flag raters, settled before the start. A rule that is not given is not applied.

    Attributes
    ----------
    active_seconds : float or None
        Least median time on an output while the page is visible.
    edit_characters : int or None
        Least median number of characters that a required edit changes.
    agreement : float or None
        Least share of comparisons with others that agree: two scores of one output under one prompt that
        are at most a quarter of the scale apart. It counts once others judged ten of the same outputs.
    gold_failures : int or None
        Number of gold items answered wrongly with which a rater is flagged.
    same_answers : int or None
        Number of texts in a row with the same answers to all choices with which a rater is flagged.
    """

    active_seconds: float | None = Field(default=None, gt=0)
    edit_characters: Count | None = None
    agreement: Annotated[float, BeforeValidator(_share)] | None = Field(default=None, ge=0, le=1)
    gold_failures: Count | None = None
    same_answers: int | None = Field(default=None, ge=5)


class Gold(Declared):
    """Items with known answers.

    Attributes
    ----------
    file : Path
        JSON Lines: the fields of the task and ``answer``; see `steelyard.collect.tasks.read_gold`.
    every : int
        Of every so many items that a rater gets, one is gold, at a random place.
    """

    file: FilePath
    every: int = Field(ge=2)


class Welcome(Declared):
    """What raters are told before anything else.

    Attributes
    ----------
    purpose : str
        What the study is for; a blank line parts paragraphs.
    consent : str or None
        What a rater agrees to before the first text; None: nothing is asked.
    """

    purpose: Text
    consent: Text | None = None
