"""The two files of a study, read with the same choices."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.campaign.leaks import without_leaks
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables import Judgments, Outputs, read_judgments, read_outputs
from steelyard.tables.one_table import split_table

__all__ = ["StudyFiles"]


@dataclass(frozen=True, eq=False)
class StudyFiles:
    """Outputs and judgments as they were brought, and how to read them; see `Study.read`."""

    outputs: Any
    judgments: Any
    columns: Mapping[str, str]
    metrics: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    exclude_systems: tuple[str, ...] | None = None
    exclude_metrics: tuple[str, ...] | None = None
    lower_is_better: tuple[str, ...] | None = None
    human: tuple[str, ...] | None = None

    def read(self, systems: tuple[str, ...] | None) -> tuple[Outputs, Judgments, tuple[str, ...]]:
        """Return outputs, judgments, and the notes on both.

        All systems are read, because they lend one another what they know. If something is wrong and
        only some are asked about, these are read alone.
        """
        if systems is None:
            return self._checked(None)
        try:
            pool, judged, notes = self._checked(None)
            pool.check()
        except InvalidDataError as error:
            try:
                pool, judged, notes = self._checked(systems)
                pool.check()
            except InvalidDataError:
                raise error from None
            if not set(systems) <= set(judged.systems):
                raise
            alone = f"read are only {', '.join(systems)}, without help of other systems: {error}"
            return pool, judged, (*notes, alone)
        return pool, judged, notes

    def _checked(
        self, systems: tuple[str, ...] | None
    ) -> tuple[Outputs, Judgments, tuple[str, ...]]:
        outputs, judgments = self.outputs, self.judgments
        notes: tuple[str, ...] = ()
        if self.human is not None:
            outputs, judgments, notes = split_table(
                outputs,
                self.human,
                columns=self.columns,
            )
        judged = Judgments.none()
        if judgments is not None:
            judged = read_judgments(
                judgments,
                columns=self.columns,
                prompts=self.prompts,
                lower_is_better=self.lower_is_better,
                systems=systems,
                exclude_systems=self.exclude_systems,
            )
        pool = read_outputs(
            outputs,
            columns=self.columns,
            metrics=self.metrics,
            systems=systems,
            exclude_systems=self.exclude_systems,
            exclude_metrics=self.exclude_metrics,
        )
        if judgments is not None:
            self._check_columns(pool, judged)
        for name in self.exclude_systems or ():
            if name not in {*pool.left_out, *judged.left_out}:
                known = ", ".join(dict.fromkeys((*pool.systems, *judged.systems)))
                raise InvalidArgumentError(
                    f"`exclude_systems` (--exclude-system) must name systems of {pool.name} or "
                    f"{judged.name}: {known}; got {name!r}"
                )
        pool, leaks = without_leaks(pool, judged, self.metrics)
        return pool, judged, (*notes, *pool.notes, *leaks, *judged.notes)

    def _check_columns(self, pool: Outputs, judged: Judgments) -> None:
        """Raise for a column that was mapped and is in neither file, or not in that one."""
        used = {"outputs": pool.mapped, "judgments": judged.mapped}
        for ours, theirs in self.columns.items():
            role, _, name = ours.partition(":")
            if role in used and name:
                if name not in used[role]:
                    raise InvalidArgumentError(
                        f"column {theirs!r} is mapped to {name!r} but not found in {role}"
                    )
            elif not any(ours in own for own in used.values()):
                raise InvalidArgumentError(
                    f"column {theirs!r} is mapped to {ours!r} but found in neither {pool.name} nor "
                    f"{judged.name}"
                )
