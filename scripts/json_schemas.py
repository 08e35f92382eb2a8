"""Write docs/reference/schemas: the JSON schema of every ``--json``."""

import json
import sys
from pathlib import Path

from steelyard.schemas import COMMANDS, schema, schema_id

TARGET = Path(__file__).resolve().parents[1] / "docs" / "reference" / "schemas"


def pages() -> dict[str, str]:
    """Return the text of each file by its name, such as ``estimate-1.json``."""
    return {
        f"{name}-{schema_id(name).rsplit('/', 1)[1]}.json": json.dumps(schema(name), indent=2)
        + "\n"
        for name in COMMANDS
    }


if __name__ == "__main__":
    TARGET.mkdir(exist_ok=True)
    for name, text in pages().items():
        (TARGET / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"wrote {len(pages())} schemas\n")
