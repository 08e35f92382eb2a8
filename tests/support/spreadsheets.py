"""Writes small Excel files as Excel itself would, without a library."""

import zipfile
from xml.sax.saxutils import escape, quoteattr

_NS = "http://schemas.openxmlformats.org"
_TYPES = (
    f'<Types xmlns="{_NS}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sheet.main+xml"/></Types>'
)


def write_xlsx(path, sheets):
    """Write sheets by name, each a list of rows of texts, numbers, truths and None."""
    office = f"{_NS}/officeDocument/2006/relationships"
    names = list(sheets)
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="r{n}"/>'
        for n, name in enumerate(names, 1)
    )
    targets = "".join(
        f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(names) + 1)
    )
    relations = f'<Relationships xmlns="{_NS}/package/2006/relationships">'
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": f'{relations}<Relationship Id="r1" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_NS}/spreadsheetml/2006/main" xmlns:r="{office}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"{relations}{targets}</Relationships>",
    }
    for n, name in enumerate(names, 1):
        parts[f"xl/worksheets/sheet{n}.xml"] = _sheet(sheets[name])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def _sheet(rows):
    cells = "".join(
        f'<row r="{n}">'
        + "".join(_cell(f"{chr(65 + column)}{n}", value) for column, value in enumerate(row))
        + "</row>"
        for n, row in enumerate(rows, 1)
    )
    return f'<worksheet xmlns="{_NS}/spreadsheetml/2006/main"><sheetData>{cells}</sheetData></worksheet>'


def _cell(place, value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    if value.startswith("#"):
        return f'<c r="{place}" t="e"><v>{escape(value)}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
