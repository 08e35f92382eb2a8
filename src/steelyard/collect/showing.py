"""What a page gets of a content: files under their names, formulas as trees."""

from collections.abc import Iterator, Mapping
from typing import Any

from steelyard.collect.documents import EARLIER
from steelyard.collect.formulas import Tree, formulas_in
from steelyard.collect.media import MediaFolder, media_fields
from steelyard.collect.tasks.screen import asked_about
from steelyard.collect.tasks.task import Task

__all__ = ["content_formulas", "shown_content"]


def shown_content(
    task: Task, media: MediaFolder | None, content: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a content as the page may know it: no path of a file, which may name a system."""
    if media is None:
        return dict(content)
    shown = dict(content)
    task = asked_about(task, content)
    for field in media_fields(task):
        if field in shown:
            shown[field] = media.names(shown[field])
    for one in task.show:
        if one.format == "markdown" and one.field in shown:
            shown[one.field] = _in_each(media, shown[one.field])
    if EARLIER in shown:
        shown[EARLIER] = [shown_content(task, media, before) for before in shown[EARLIER]]
    return shown


def content_formulas(task: Task, content: Mapping[str, Any]) -> dict[str, Tree]:
    """Return the formulas of a content, by how they stand in its texts."""
    fields = [one.field for one in asked_about(task, content).show if one.math]
    return formulas_in(_texts(content, fields)) if fields else {}


def _in_each(media: MediaFolder, value: str | list[str]) -> str | list[str]:
    if isinstance(value, str):
        return media.in_markdown(value)
    return [media.in_markdown(text) for text in value]


def _texts(content: Mapping[str, Any], fields: list[str]) -> Iterator[str]:
    for part in (content, *content.get(EARLIER, ())):
        for field in fields:
            value = part.get(field, "")
            yield from value if isinstance(value, list) else [value]
