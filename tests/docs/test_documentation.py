"""What the documentation says is true."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_command_line_reference_is_what_help_prints():
    # made by: python scripts/cli_reference.py
    script = runpy.run_path(str(ROOT / "scripts" / "cli_reference.py"))
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert page == script["reference"]()


def test_published_schemas_are_those_of_the_commands():
    # made by: python scripts/json_schemas.py
    made = runpy.run_path(str(ROOT / "scripts" / "json_schemas.py"))["pages"]()
    folder = ROOT / "docs" / "reference" / "schemas"
    table = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    for name, text in made.items():
        assert (folder / name).read_text(encoding="utf-8") == text, name
        assert f"(schemas/{name})" in table


def test_python_reference_names_every_public_function():
    import steelyard

    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    named = {line.rsplit(".", 1)[-1] for line in page.splitlines() if line.startswith(":::")}
    assert set(steelyard.__all__) - {"__version__"} <= named


@pytest.mark.parametrize(
    "page",
    [
        *sorted(path for path in ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert str(page.relative_to(ROOT / "docs")) in navigation


def test_every_format_that_convert_reads_is_described():
    from steelyard.foreign import FORMATS

    page = (ROOT / "docs" / "how-to" / "convert.md").read_text(encoding="utf-8")
    for name in FORMATS.keys() - {"wide", "prolific"}:
        assert f"`{name}` |" in page, name
