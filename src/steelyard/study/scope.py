"""What estimates and comparisons are about: an average over prompts, slices, or a mix of slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.data import Outputs
from steelyard.errors import InvalidArgumentError
from steelyard.study.averages import averaged_judgments
from steelyard.study.slices import Slices

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["Scope"]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Options of `Study.estimate` and `Study.compare`, by their names; None for the whole pool.

    Attributes
    ----------
    average : mapping of str to float or None
        The weights of prompts that are averaged.
    by : str or None
        Column that divides outputs into slices.
    bands : sequence of float or None
        Where a column of numbers is cut.
    weights : mapping of str to float or None
        The weight of each slice in a mix.
    """

    average: Mapping[str, float] | None = None
    by: str | None = None
    bands: Sequence[float] | None = None
    weights: Mapping[str, float] | None = None

    def study(
        self, study: "Study", prompts: Sequence[str] | None, raters_as: str | None
    ) -> tuple["Study", tuple[str, ...]]:
        """Return the study with its prompts averaged, if that is asked for, and remarks on it.

        Raises
        ------
        InvalidArgumentError
            If prompts are chosen too, or raters of different prompts are to be seen as a sample.
        """
        if self.average is None:
            return study, ()
        if prompts is not None:
            raise InvalidArgumentError(
                "`average` and `prompts` (--prompt) exclude each other: an average names its prompts"
            )
        study.check_judged(None, None)
        judgments, notes = averaged_judgments(study.judgments, self.average)
        if raters_as in {"random", "adjusted"} and len(judgments.raters) < 2:
            raise InvalidArgumentError(
                f'`raters_as` (--raters) "{raters_as}" needs raters who judged outputs under all prompts '
                'of `average`; here prompts were judged by different raters: use "fixed"'
            )
        return replace(study, judgments=judgments), notes

    def slices(self, outputs: Outputs, metrics: Sequence[str]) -> Slices | None:
        """Return the slices, if any are asked for.

        Raises
        ------
        InvalidArgumentError
            If there are bands or weights and no column.
        """
        if self.by is None:
            for name, given in (("bands", self.bands), ("weights", self.weights)):
                if given is not None:
                    raise InvalidArgumentError(f"`{name}` needs `by`: the column of the slices")
            return None
        return Slices.of(outputs, self.by, metrics=metrics, bands=self.bands, weights=self.weights)
