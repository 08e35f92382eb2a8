"""What estimates and comparisons are asked about, checked once for all questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from steelyard.campaign.score_bounds import check_bounds
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.names import known_names
from steelyard.questions.about import Raters, Target
from steelyard.questions.fitted import Fits
from steelyard.records import names_of

__all__ = ["Asked"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """The prompts and systems in question, and what intervals are about.

    Attributes
    ----------
    prompts : tuple of str
        The prompts in question.
    systems : tuple of str
        The systems in question.
    target, raters, level
        As in `Study.estimate`.
    """

    prompts: tuple[str, ...]
    systems: tuple[str, ...]
    target: Target
    raters: Raters | None
    level: float

    @classmethod
    def of(
        cls,
        fits: Fits,
        prompts: Sequence[str] | None,
        systems: Sequence[str] | None,
        *,
        target: Target,
        raters: Raters | None,
        level: float,
    ) -> Self:
        """Check what is asked.

        Raises
        ------
        InvalidArgumentError
            If a prompt or system has no judgments, an option is none, or a score lies outside its bounds.
        """
        judgments = fits.source.judgments
        prompts, systems = names_of(prompts), names_of(systems)
        if fits.is_average and prompts is not None:
            raise InvalidArgumentError(
                "`prompts` and `average` exclude each other: the average names its prompts"
            )
        if not 0 < level < 1:
            raise InvalidArgumentError(f"`level` must be between 0 and 1; got {level:g}")
        for name, given, known in (
            ("target", target, ("pool", "superpopulation")),
            ("raters", raters, (None, "random", "fixed")),
        ):
            if given not in known:
                those = ", ".join(repr(one) for one in known if one is not None)
                raise InvalidArgumentError(f"`{name}` must be one of {those}; got {given!r}")
        for name, asked, there in (
            ("prompt", prompts, judgments.prompts),
            ("system", systems, fits.source.systems),
        ):
            for one in asked or ():
                if one not in there:
                    raise InvalidArgumentError(
                        f"{name} {one!r} has no judgments in {judgments.name}; {known_names(one, there)}"
                    )
        check_bounds(judgments, fits.source.bounds, prompts=prompts, systems=systems)
        return cls(
            prompts=tuple(judgments.prompts if prompts is None else prompts),
            systems=tuple(fits.source.systems if systems is None else systems),
            target=target,
            raters=raters,
            level=level,
        )

    def scored(self, fits: Fits) -> tuple[str, ...]:
        """Return the prompts that ask for scores.

        Raises
        ------
        NotEstimableError
            If all ask for preferences, which are about two systems.
        """
        preferred = fits.source.judgments.preference_prompts
        found = tuple(one for one in self.prompts if one not in preferred)
        if not found:
            raise NotEstimableError(
                f"prompt {self.prompts[0]!r} asks which of two outputs is better: use `steelyard compare`, "
                "which counts wins, ties and losses"
            )
        return found
