import json

import numpy as np
import pytest

from printed_json import schema_errors
from steelyard.cli import main


@pytest.fixture
def run(capsys):
    """Run the command line; return exit code, standard output and standard error.

    Whatever is printed as JSON must follow the published schema.
    """

    def call(*arguments):
        arguments = [str(argument) for argument in arguments]
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        captured = capsys.readouterr()
        if "--json" in arguments and captured.out:
            assert schema_errors(arguments[0], json.loads(captured.out)) == []
        return stop.value.code, captured.out, captured.err

    return call


@pytest.fixture
def campaign(tmp_path):
    """Two systems of 60 outputs, 30 of each judged twice under one prompt, as JSON Lines."""
    rng = np.random.default_rng(0)
    outputs, judgments = [], []
    for system, quality in (("alpha", 0.3), ("beta", 0.0)):
        metric = rng.normal(size=60)
        score = quality + metric + 0.5 * rng.normal(size=60)
        for item in range(60):
            outputs.append(
                {
                    "item": f"i{item}",
                    "system": system,
                    "output": f"text {item} of {system}",
                    "length": round(float(metric[item]), 6),
                    "noise": round(float(rng.normal()), 6),
                }
            )
        for item in rng.choice(60, 30, replace=False):
            for rater in rng.choice(8, 2, replace=False):
                judgments.append(
                    {
                        "item": f"i{item}",
                        "system": system,
                        "rater": f"r{rater}",
                        "prompt": "overall",
                        "score": round(float(score[item] + rng.normal()), 6),
                    }
                )
    return write(tmp_path, outputs, judgments)


def write(folder, outputs, judgments):
    paths = folder / "outputs.jsonl", folder / "judgments.jsonl"
    for path, rows in zip(paths, (outputs, judgments), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths
