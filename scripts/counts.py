"""Count what there is to read and to learn, beside the most that there may be.

Prints one table and ends with 1 if something has grown past its ceiling. A ceiling is lowered when something
has become smaller; to raise one needs a reason in the commit. The time of the import is judged only with
``--time``: a busy machine makes it longer.
"""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
SOURCE = HOME / "src" / "steelyard"

_TIME = "processor time of the first import, ms"
CEILINGS = {
    "lines of source": 66_300,
    "lines of tests": 46_400,
    "lines of benchmarks": 8_200,
    "words of docs": 46_500,
    "source files": 435,
    "lines of the longest source file": 490,
    "class names in two modules": 12,
    "type aliases in two modules": 5,
    "options of all commands": 170,
    _TIME: 700,
}


def counts() -> dict[str, int]:
    """Return each count under its name in `CEILINGS`."""
    sizes = [len(path.read_text("utf-8").splitlines()) for path in _python(SOURCE)]
    classes, aliases = names_twice()
    docs = [HOME / "README.md", HOME / "ARCHITECTURE.md", HOME / "CHANGELOG.md"]
    docs += sorted((HOME / "docs").rglob("*.md"))
    return {
        "lines of source": sum(sizes),
        "lines of tests": _lines(HOME / "tests"),
        "lines of benchmarks": _lines(HOME / "benchmarks"),
        "words of docs": sum(len(path.read_text("utf-8").split()) for path in docs),
        "source files": len(sizes),
        "lines of the longest source file": max(sizes),
        "class names in two modules": len(classes),
        "type aliases in two modules": len(aliases),
        "options of all commands": _options(),
        _TIME: _import_time(),
    }


def names_twice() -> tuple[dict[str, int], dict[str, int]]:
    """Return public classes, and type aliases, that two modules or more define, and how many do."""
    classes, aliases = Counter[str](), Counter[str]()
    for path in _python(SOURCE):
        tree = ast.parse(path.read_text("utf-8"))
        classes.update({node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)})
        aliases.update(set(_aliases(tree)))
    shared = [
        {name: number for name, number in names.most_common() if number > 1 and name[0] != "_"}
        for names in (classes, aliases)
    ]
    return shared[0], shared[1]


def _python(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if "__pycache__" not in path.parts)


def _lines(folder: Path) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in _python(folder))


def _aliases(tree: ast.Module) -> Iterator[str]:
    """Yield names that a module gives to array types and choices of words."""
    for node in tree.body:
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)):
            continue
        if isinstance(node.value.value, ast.Name) and node.value.value.id in {"NDArray", "Literal"}:
            yield from (name.id for name in node.targets if isinstance(name, ast.Name))


def _options() -> int:
    """Return the number of options of all commands; ``--help`` is none."""
    from steelyard.cli.main import steelyard  # noqa: PLC0415 - the rest needs no package

    context = steelyard.make_context("steelyard", [], resilient_parsing=True)
    commands = [steelyard.get_command(context, name) for name in steelyard.list_commands(context)]
    return sum(
        parameter.param_type_name == "option" and parameter.name != "help"
        for command in commands
        if command is not None
        for parameter in command.params
    )


def _import_time() -> int:
    """Return the least of five times that ``import steelyard; steelyard.Study`` takes a processor."""
    code = (
        "from time import process_time as now; start = now(); import steelyard; "
        "steelyard.Study; print(now() - start)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
        for _ in range(5)
    ]
    return round(1000 * min(float(run) for run in runs))


def main() -> None:
    """Print the table, and with ``--names`` what two modules define."""
    found = counts()
    print(f"{'':40}{'count':>8}{'ceiling':>9}")
    over = []
    for name, ceiling in CEILINGS.items():
        too_much = found[name] > ceiling
        print(f"{name:40}{found[name]:>8,}{ceiling:>9,}{'  too much' if too_much else ''}")
        if too_much and (name != _TIME or "--time" in sys.argv):
            over.append(name)
    if "--names" in sys.argv:
        for what, names in zip(("classes", "type aliases"), names_twice(), strict=True):
            print(f"{what}:", ", ".join(f"{name} {number}" for name, number in names.items()))
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
