"""Which outputs to judge next, by a few rules that the errors to come justify."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from steelyard.campaign.unjudged import PLACE, next_outputs, others_judged
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.model.campaign import Floats
from steelyard.names import known_names
from steelyard.questions.fitted import Fits
from steelyard.questions.precision import Precision
from steelyard.questions.prospect import Further, Prospect
from steelyard.sampling.texts_once import texts_once

__all__ = ["NextSample", "next_sample"]

# Outputs of a system after which two orders of the items are compared.
_LOOK = 100
_OUTPUT = ["item", "system"]


@dataclass(frozen=True, eq=False)
class NextSample:
    """Outputs to judge next.

    Attributes
    ----------
    frame : polars.DataFrame
        The rows of the pool in the order in which to judge, with what the draw records.
    rules : tuple of str
        Why these.
    """

    frame: pl.DataFrame
    rules: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<{self.frame.height} outputs to judge next: {'; '.join(self.rules)}>"


def next_sample(
    fits: Fits,
    prompt: str,
    n: int,
    *,
    systems: Sequence[str] | None = None,
    pair: tuple[str, str] | None = None,
    decided: Sequence[str] = (),
    seed: int,
) -> NextSample:
    """Draw outputs to judge next.

    Every rule keeps the draw simple: which items come next depends on chance and on which were judged,
    never on scores.

    Parameters
    ----------
    fits : Fits
        The models.
    prompt : str
        The prompt.
    n : int
        Items to judge next.
    systems : sequence of str, optional
        The systems in question; all by default.
    pair : (str, str), optional
        Two systems whose difference is in question.
    decided : sequence of str
        Systems of which enough is known: they get no judgment.
    seed : int
        Seed of the draw.

    Raises
    ------
    InvalidArgumentError
        If a system is not in the pool, or fewer items are left.
    NotEstimableError
        If everything is decided.
    """
    source = fits.source
    known = source.outputs.systems
    asked = list(pair or systems or known)
    for one in asked:
        if one not in known:
            raise InvalidArgumentError(
                f"system {one!r} is not in {source.outputs.name}; {known_names(one, known)}"
            )
    if n < 1:
        raise InvalidArgumentError(f"`n` must be at least 1; got {n}")
    getting = [one for one in asked if one not in decided]
    if not getting:
        raise NotEstimableError("all systems in question are decided: nothing is left to judge")
    rules = ["the same items for all systems in question"] if len(getting) > 1 else []
    rules += [f"none of {one}, which is decided" for one in asked if one in decided]
    differing = pair is not None and len(getting) == 2 and source.outputs.has_texts
    if differing:
        rules.append("only items on which the two differ: on others their difference is zero")
    first = False
    if others_judged(source, prompt, getting):
        first = _judged_first_helps(fits, prompt, getting, pair, differing=differing)
        rules += ["items that other systems were judged on come first"] if first else []
    rng = np.random.default_rng(seed)
    drawn = next_outputs(source, prompt, getting, rng=rng, judged_first=first, differing=differing)
    left = int(str(drawn[PLACE].max() or 0))
    if n > left:
        raise InvalidArgumentError(f"`n` must not exceed the {left} items that are left; got {n}")
    drawn = drawn.filter(pl.col(PLACE) <= n).sort(PLACE, "system")
    rows = _recorded(fits, prompt, drawn, seed)
    once = texts_once(_unjudged_texts(fits, prompt, rows))
    if once.height < rows.height:
        rules.append("a text that several systems wrote once, for all of them")
    return NextSample(once, tuple(rules))


def _unjudged_texts(fits: Fits, prompt: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose text was not judged for another system, for which it counts already."""
    outputs = fits.source.outputs
    if not outputs.has_texts:
        return rows
    judged = fits.source.judgments.filter(pl.col("prompt") == prompt)
    texts = outputs.rows_of(judged, columns=["output"]).select("item", "output")
    return rows.join(texts.unique(), on=["item", "output"], how="anti", maintain_order="left")


def _judged_first_helps(
    fits: Fits,
    prompt: str,
    systems: Sequence[str],
    pair: tuple[str, str] | None,
    *,
    differing: bool,
) -> bool:
    """Whether items that others were judged on leave less error."""

    def error(*, judged_first: bool) -> float:
        prospect = Prospect.of(
            fits, prompt, systems, judged_first=judged_first, differing=differing
        )
        names = prospect.campaign.systems
        means = np.eye(len(names))
        forms: Floats = means[[names.index(one) for one in systems]]
        if pair is not None:
            forms = np.array([means[names.index(pair[0])] - means[names.index(pair[1])]])
        elif len(systems) > 1:
            forms = np.array([a - b for a, b in combinations(forms, 2)])
        goal = Precision("", forms, 1.0)
        return goal.reach(prospect.after(Further(min(_LOOK, prospect.left))))

    return error(judged_first=True) < error(judged_first=False)


def _recorded(fits: Fits, prompt: str, drawn: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return the rows of the pool with what a draw records of them, as far as the one before did."""
    judged = fits.source.judgments.frame.filter(pl.col("prompt") == prompt)
    before = judged.unique(_OUTPUT).group_by("system").len().rename({"len": "#before"})
    last = 0
    if "draw" in judged.columns:
        last = int(str(judged["draw"].cast(pl.Int64, strict=False).max() or 0))
    rows = fits.source.outputs.rows()
    sizes = pl.DataFrame(
        {
            "system": list(fits.source.outputs.sizes),
            "#size": list(fits.source.outputs.sizes.values()),
        }
    )
    found = drawn.join(rows, on=_OUTPUT, how="left", maintain_order="left")
    found = found.join(before, on="system", how="left").join(sizes, on="system", how="left")
    number = pl.col("#before").fill_null(0) + pl.col(PLACE).max().over("system")
    columns = {
        "probability": number / pl.col("#size"),
        "stratum": pl.lit(None, pl.String),
        "stratum_size": pl.col("#size"),
        "share": pl.lit(1.0),
    }
    kept = {name: how for name, how in columns.items() if name in judged.columns}
    found = found.with_columns(
        **kept,
        draw=last + pl.col(PLACE),
        design=pl.lit("simple"),
        seed=pl.lit(seed),
        signature=pl.format(
            "simple|after={}|n={}|N={}|seed={}", "#before", number, "#size", pl.lit(seed)
        ),
    )
    return found.sort(PLACE, "system", maintain_order=True).drop(PLACE, "#before", "#size")
