"""The pause that the server makes by itself when the goal is reached."""

from sqlalchemy import Connection, bindparam, literal_column, update

from steelyard.collect.store.tables import settings

__all__ = ["pause_at_goal"]

# Once for each goal: who resumes the campaign is not interrupted again.
_PAUSE = (
    update(settings)
    .where(
        settings.c.id == 1,
        settings.c.state == "running",
        settings.c.half_width == bindparam("reached"),
        literal_column("(met_half_width IS NULL OR met_half_width != half_width)"),
    )
    .values(
        state="paused",
        met_half_width=settings.c.half_width,
        revision=settings.c.revision + 1,
        changed=bindparam("new_changed"),
    )
)


def pause_at_goal(connection: Connection, *, half_width: float, now: int) -> bool:
    """Pause because this half-width is reached; return whether that was so.

    Nothing happens if the campaign is not running, its goal is another by now, or it was paused
    for this goal before and resumed.
    """
    return connection.execute(_PAUSE, {"reached": half_width, "new_changed": now}).rowcount == 1
