"""Results as files that other programs read: chosen by the name of the file."""

import csv
import html
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from steelyard.tables.formulas import guarded

__all__ = ["FORMATS", "as_csv", "as_html", "as_latex", "as_markdown"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
}
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;"
    "color:#1a1a1a;background:#fff}.wide{overflow-x:auto}table{border-collapse:collapse;"
    "margin:.5rem 0 1.5rem}caption{text-align:left;font-weight:600;padding:.3rem 0}"
    "th,td{padding:.3rem .8rem;border-bottom:1px solid #ccc;text-align:left;white-space:nowrap}"
    "td.right,th.right{text-align:right;font-variant-numeric:tabular-nums}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}th,td{border-color:#444}}"
)


def as_markdown(parts: Iterable[RenderableType]) -> str:
    """Return tables and lines as Markdown."""
    return "\n\n".join(
        _markdown(part) if isinstance(part, Table) else _markdown_cell(part) for part in parts
    )


def as_latex(parts: Iterable[RenderableType]) -> str:
    """Return tables as LaTeX (package booktabs), and lines as comments, to be put into a paper."""
    return "\n\n".join(
        _latex(part)
        if isinstance(part, Table)
        else "\n".join(f"% {line}" for line in str(part).splitlines())
        for part in parts
    )


def as_html(parts: Iterable[RenderableType]) -> str:
    """Return tables and lines as one page that loads nothing."""
    body = "\n".join(
        _html(part) if isinstance(part, Table) else f"<p>{html.escape(str(part))}</p>"
        for part in parts
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Steelyard</title><style>{_STYLE}</style></head><body><main>\n{body}\n"
        "</main></body></html>"
    )


def as_csv(value: Any) -> str:
    """Return a result as rows with all digits.

    A list of objects inside an object gives a row each, beside what the object says of all of them.
    ``a.b`` is b of a; lists of numbers and names are joined by ``;``. A text that a spreadsheet might take for a formula
    gets an apostrophe in front.
    """
    rows = [_flat(row) for row in _rows(value)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    page = io.StringIO()
    writer = csv.DictWriter(page, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: guarded(one) if isinstance(one, str) else one for name, one in row.items()}
        for row in rows
    )
    return page.getvalue().rstrip("\n")


FORMATS = {".md": as_markdown, ".tex": as_latex, ".html": as_html}


def _cells(table: Table) -> list[list[str]]:
    """Return the header and the rows of a table as plain text."""
    columns = [
        [str(column.header), *(str(cell) for cell in column.cells)] for column in table.columns
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _right(table: Table) -> list[bool]:
    return [column.justify == "right" for column in table.columns]


def _markdown_cell(value: Any) -> str:
    text = str(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _markdown(table: Table) -> str:
    header, *rows = [[_markdown_cell(cell) for cell in row] for row in _cells(table)]
    rule = ["---:" if right else "---" for right in _right(table)]
    lines = [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]
    title = [f"**{_markdown_cell(table.title)}**", ""] if table.title else []
    return "\n".join([*title, *lines])


def _latex_cell(value: Any) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in str(value))


def _latex(table: Table) -> str:
    header, *rows = [" & ".join(map(_latex_cell, row)) + r" \\" for row in _cells(table)]
    kinds = "".join("r" if right else "l" for right in _right(table))
    title = [f"% {table.title}"] if table.title else []
    return "\n".join(
        [
            *title,
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            header,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _html(table: Table) -> str:
    header, *rows = _cells(table)
    right = _right(table)

    def row(kind: str, cells: Sequence[str]) -> str:
        made = (
            f"<{kind}{' class=right' if to_right else ''}>{html.escape(cell)}</{kind}>"
            for cell, to_right in zip(cells, right, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    caption = f"<caption>{html.escape(str(table.title))}</caption>" if table.title else ""
    body = "\n".join(row("td", cells) for cells in rows)
    return (
        f'<div class="wide"><table>{caption}<thead>{row("th", header)}</thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _rows(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        for inside in value.values():
            if isinstance(inside, list) and inside and isinstance(inside[0], Mapping):
                shared = {name: one for name, one in value.items() if not _is_rows(one)}
                return [{**shared, **row} for row in inside]
        return [value]
    return [row for one in value for row in _rows(one)]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping | list)


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
        elif isinstance(value, list | tuple):
            found[before + name] = ";".join(str(one) for one in value)
        else:
            found[before + name] = value
    return found
