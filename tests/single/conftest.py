import json
from pathlib import Path

import numpy as np
import pytest

PAPER = Path(__file__).parents[3] / "shared" / "paper"


class PaperData:
    """The paper's released judgments, one output a line, and the authors' results."""

    def __init__(self, folder):
        self.published = json.loads((folder / "published.json").read_text(encoding="utf-8"))
        self.rows = {
            task: [
                json.loads(line)
                for line in (folder / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()
            ]
            for task in ("cnndm", "msmarco")
        }

    def judgments(self, task, prompt, system="*", metric=None):
        """Return human, items, metric and the authors' means, one entry a judgment."""
        # Each line counts as an output, as it did for the authors: one (id, system) of cnndm is
        # there twice.
        lines = [
            (number, row["prompts"][prompt])
            for number, row in enumerate(self.rows[task])
            if system in ("*", row["system"])
        ]
        count = [len(scores["human"]) for _, scores in lines]
        human = np.concatenate([scores["human"] for _, scores in lines])
        items = np.repeat([number for number, _ in lines], count)
        gold = np.repeat([scores["gold"] for _, scores in lines], count)
        values = None
        if metric is not None:
            values = np.repeat([scores[metric] for _, scores in lines], count)
        return human, items, values, gold


@pytest.fixture(scope="session")
def paper():
    if not PAPER.is_dir():
        pytest.skip(f"the paper's released data are not in {PAPER.name}/ next to the repository")
    return PaperData(PAPER)


@pytest.fixture
def rng():
    return np.random.default_rng(20180712)
