"""Campaigns to start from, in a folder of one's own: a complete example, or a commented file."""

import json
import shutil
import tempfile
from pathlib import Path

from steelyard.collect.config.campaign import load_campaign
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables import Outputs, read_outputs
from steelyard.tables.replacing import replacing

__all__ = ["copy_example", "write_campaign"]

_EXAMPLES = Path(__file__).parent.parent / "examples"
_FILE = "campaign.yaml"
# Outputs of each system to judge, unless there are fewer.
_DRAWN = 60


def copy_example(name: str, folder: Path) -> Path:
    """Copy an example to a new folder, or find it there from before.

    Parameters
    ----------
    name
        Name of the example.
    folder
        Where to copy it. One that exists is left as it is.

    Returns
    -------
    Path
        The campaign file in the folder.

    Raises
    ------
    InvalidArgumentError
        If there is no such example, or the folder exists and holds something else.
    """
    source = _EXAMPLES / name
    if not (source / _FILE).is_file():
        known = ", ".join(sorted(path.parent.name for path in _EXAMPLES.glob(f"*/{_FILE}")))
        raise InvalidArgumentError(f"`--example` must be one of {known}; got {name!r}")
    if folder.exists():
        if not _is_same(source / _FILE, folder / _FILE):
            raise InvalidArgumentError(
                f"the folder {folder} is there and holds something else than the example {name}: go to another "
                f"folder, or serve what it holds with steelyard serve {folder / _FILE}"
            )
        return folder / _FILE
    parent = folder.absolute().parent
    with tempfile.TemporaryDirectory(dir=parent, prefix=f".{folder.name}.") as part:
        # whole or not at all, whatever happens while it is copied
        shutil.copytree(source, Path(part) / name, ignore=shutil.ignore_patterns("__pycache__"))
        (Path(part) / name).rename(folder)
    return folder / _FILE


def write_campaign(folder: Path, *, outputs: Path | None, example: str) -> list[str]:
    """Write a commented campaign file, the task of an example and, without own outputs, its outputs.

    Parameters
    ----------
    folder
        Where to write; nothing there is written over.
    outputs
        Own outputs, which the campaign names.
    example
        Name of the example.

    Returns
    -------
    list of str
        The names of the files.

    Raises
    ------
    InvalidArgumentError
        If one of the files is there, or two systems were to be compared and there is one.
    """
    source = _EXAMPLES / example
    pool = read_outputs(outputs or source / "outputs.jsonl")
    texts = {
        _FILE: (_EXAMPLES / "new-campaign.yaml")
        .read_text("utf-8")
        .replace("@OUTPUTS@", "outputs.jsonl" if outputs is None else str(outputs.resolve()))
        .replace("@SAMPLE@", _sample(pool, pairs=example == "pairwise")),
        "task.yaml": (source / "task.yaml").read_text("utf-8"),
    }
    if outputs is None:
        texts["outputs.jsonl"] = (source / "outputs.jsonl").read_text("utf-8")
    there = [name for name in texts if (folder / name).exists()]
    if there:
        raise InvalidArgumentError(
            f"`--new` {folder} holds {' and '.join(there)} already, which is never written over: name "
            "another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return list(texts)


def _sample(outputs: Outputs, *, pairs: bool) -> str:
    """Return what is drawn, as the campaign file has it."""
    drawn = {"n": min(_DRAWN, *outputs.sizes.values()), "seed": 1, "same_items": True}
    if pairs and len(outputs.systems) < 2:
        raise InvalidArgumentError(
            f"`--example pairwise` compares two systems; {outputs.name} has {len(outputs.systems)}"
        )
    return json.dumps(drawn | ({"systems": outputs.systems[:2]} if pairs else {}))


def _is_same(example: Path, found: Path) -> bool:
    if not found.is_file():
        return False
    try:
        return load_campaign(found).fingerprint == load_campaign(example).fingerprint
    except InvalidDataError:
        return False
