"""A table as notebooks show it."""

import html
from collections.abc import Sequence

__all__ = ["html_table"]


def html_table(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[bool] | None = None,
    below: Sequence[str] = (),
) -> str:
    """Return an HTML table; all text stays text.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    rows : sequence of sequence of str
        The cells.
    right : sequence of bool, optional
        Which columns stand to the right; by default all but the first.
    below : sequence of str
        Lines under the table.

    Examples
    --------
    >>> html_table(["system", "n"], [["<a>", "3"]], below=["b & c"])
    '<table>...&lt;a&gt;</td>...<div><small>b &amp; c</small></div>'
    """
    sides = [number > 0 for number in range(len(names))] if right is None else right
    styles = [f"text-align: {'right' if side else 'left'}" for side in sides]

    def row(tag: str, values: Sequence[str]) -> str:
        return "".join(
            f'<{tag} style="{style}">{html.escape(value)}</{tag}>'
            for value, style in zip(values, styles, strict=True)
        )

    body = "".join(f"<tr>{row('td', values)}</tr>" for values in rows)
    lines = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in below)
    return f"<table><thead><tr>{row('th', names)}</tr></thead><tbody>{body}</tbody></table>{lines}"
