"""The tables of the report: the numbers behind the figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from steelyard.plots.style import ALL_SYSTEMS
from steelyard.questions.estimates import Baseline, Ends, Estimate
from steelyard.report.findings import PromptFindings, SystemFindings
from steelyard.report.numbers import (
    ALPHA,
    GAMMA,
    RHO,
    decimals_for,
    interval,
    level_name,
    number,
    percent,
)
from steelyard.single.efficiency import Efficiency
from steelyard.single.quantity import Quantity
from steelyard.study import Diagnosis

__all__ = [
    "Table",
    "agreement_table",
    "components_table",
    "estimates_table",
    "metrics_tables",
    "score_decimals",
]

# More metrics than this are folded away.
_METRICS = 10


@dataclass(frozen=True)
class Table:
    """A table of texts, ready to be shown.

    Attributes
    ----------
    caption : str
        What it shows.
    columns : tuple of str
        Heads of the columns; the first is that of the rows' names.
    rows : tuple of tuples of str
        The name of each row and its cells.
    last_is_total : bool
        Whether the last row is about all the others together.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    last_is_total: bool = field(default=False, kw_only=True)


def score_decimals(findings: PromptFindings) -> int:
    """Return how many decimals of a score its intervals can bear."""
    return decimals_for(one.estimate.half_width for one in findings.systems if one.estimate)


def estimates_table(findings: PromptFindings, *, level: float) -> Table:
    """Return the estimates of all systems beside their plain means.

    Parameters
    ----------
    findings : PromptFindings
        What was found under a prompt.
    level : float
        Level of the intervals, for the heads.
    """
    decimals = score_decimals(findings)
    wider = any(one.estimate and one.estimate.new_outputs for one in findings.systems)

    def cells(one: SystemFindings) -> Iterator[str]:
        found, plain = one.estimate, one.plain
        yield from _estimate(found, decimals)
        if wider:
            yield _interval(found and found.new_outputs, decimals)
        yield from _estimate(plain, decimals)
        yield number(found.data_efficiency if found else None)
        yield f"{found.n_judgments:,}" if found else number(None)
        yield _judged(found)

    name = f"{level_name(level)} interval"
    columns = (
        "system",
        "estimate",
        name,
        *(["for new outputs"] if wider else []),
        *("plain mean", name, "data efficiency"),
        "judgments",
        "outputs judged",
    )
    return Table(
        "Mean human score of each system",
        columns,
        tuple((one.system, *cells(one)) for one in findings.systems),
    )


def metrics_tables(diagnosis: Diagnosis) -> tuple[Table, Table | None]:
    """Return what each metric would save, and all together; of many, the most useful ones first.

    The second table has the metrics that are left out of the first, None if there are none.
    """
    found = list(diagnosis.metrics.items())
    name = _name(diagnosis.system)
    first = found if len(found) <= _METRICS + 2 else found[:_METRICS]
    rest = found[len(first) :]
    top = f", the best {len(first)} of {len(found)}" if rest else ""
    together = [] if diagnosis.together is None else [("together", diagnosis.together)]
    shown = _metrics_table(f"What each metric can save{top}, {name}", [*first, *together])
    more = _metrics_table(f"What the other metrics can save, {name}", rest) if rest else None
    return replace(shown, last_is_total=bool(together)), more


def _metrics_table(caption: str, found: Sequence[tuple[str, Efficiency]]) -> Table:
    return Table(
        caption,
        (
            "metric",
            f"correlation {RHO}",
            "interval",
            "data efficiency",
            "interval",
            "judgments saved",
        ),
        tuple((name, *_usefulness(one)) for name, one in found),
    )


def components_table(diagnoses: Sequence[Diagnosis]) -> Table:
    """Return the variance components of each system."""
    quantities = [q for one in diagnoses for q in (one.item_variance, one.rater_variance)]
    decimals = decimals_for((q.high - q.low) / 2 for q in quantities)
    return Table(
        "Variance components",
        (
            "system",
            "item variance",
            "interval",
            "rater variance",
            "interval",
            f"noise ratio {GAMMA}",
            "interval",
        ),
        tuple(
            (
                _name(one.system),
                *_quantity(one.item_variance, decimals),
                *_quantity(one.rater_variance, decimals),
                *_quantity(one.noise_ratio, 2),
            )
            for one in diagnoses
        ),
        last_is_total=diagnoses[-1].system == "*",
    )


def agreement_table(diagnoses: Sequence[Diagnosis]) -> Table:
    """Return how far raters agree on the outputs of each system."""
    return Table(
        "Agreement of raters",
        (
            "system",
            f"{ALPHA} nominal",
            f"{ALPHA} ordinal",
            f"{ALPHA} interval",
            "equal pairs",
            "ICC(1)",
            "ICC(1, k)",
            "raters",
        ),
        tuple(
            (
                _name(one.system),
                number(one.agreement.alpha_nominal),
                number(one.agreement.alpha_ordinal),
                number(one.agreement.alpha_interval),
                percent(one.agreement.equal_pairs),
                number(one.agreement.icc),
                number(one.agreement.icc_average),
                f"{one.n_raters:,}",
            )
            for one in diagnoses
        ),
        last_is_total=diagnoses[-1].system == "*",
    )


def _name(system: str) -> str:
    return ALL_SYSTEMS if system == "*" else system


def _interval(found: Estimate | Ends | None, decimals: int) -> str:
    return interval(found.low, found.high, decimals) if found else number(None)


def _estimate(found: Estimate | Baseline | None, decimals: int) -> tuple[str, str]:
    return number(found.estimate if found else None, decimals), _interval(found, decimals)


def _quantity(found: Quantity, decimals: int) -> tuple[str, str]:
    return number(found.value, decimals), interval(found.low, found.high, decimals)


def _usefulness(found: Efficiency) -> tuple[str, ...]:
    saved = percent(1 - 1 / found.data_efficiency.value)
    return *_quantity(found.correlation, 2), *_quantity(found.data_efficiency, 2), saved


def _judged(found: Estimate | None) -> str:
    if found is None:
        return number(None)
    return f"{found.n_outputs:,}" + (f" of {found.pool_size:,}" if found.pool_size else "")
