import json
import os
import subprocess
import sys
import textwrap

import pytest

WORDS = ("the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "rug", "and", "or", "not")


def row(number):
    """A row whose texts, lengths and types vary, and some of which repeat."""
    kind = number % 17
    output = " ".join(WORDS[(number * step) % 13] for step in range(1, 4 + kind % 5))
    reference = " ".join(WORDS[(number * step + 1) % 13] for step in range(1, 6))
    return {
        "item": f"i{number}",
        "system": "é" if number % 2 else "b",
        "output": output,
        "reference": [reference, output[::-1]] if kind == 3 else reference,
        "length": number / 7,
    }


@pytest.fixture
def rows():
    return [row(number) for number in range(95)]


@pytest.fixture
def outputs(tmp_path, rows):
    """95 outputs as JSON Lines."""
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows))
    return path


@pytest.fixture
def child(tmp_path):
    """Run Python in another process, where a metric named ``lethal`` is installed.

    The metric is the length of a text. When it meets the text in the environment variable
    LETHAL_TEXT it kills the process that LETHAL_PROCESS names, ``self`` or ``parent``, and never returns.
    """
    site = tmp_path / "site"
    information = site / "lethal-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: lethal\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[steelyard.metrics]\nlethal = lethal:Lethal\n")
    (site / "lethal.py").write_text(
        textwrap.dedent(
            """
            import os, signal
            from dataclasses import dataclass
            import numpy as np
            from steelyard.metrics import Metric

            @dataclass(frozen=True, kw_only=True)
            class Lethal(Metric):
                "Length of a text, deadly to some processes."

                def scores(self, pairs):
                    texts = [pairs.texts[place] for place in pairs.output[pairs.first]]
                    if os.environ.get("LETHAL_TEXT") in texts:
                        own = os.environ["LETHAL_PROCESS"] == "self"
                        os.kill(os.getpid() if own else os.getppid(), signal.SIGKILL)
                        signal.pause()  # until this process is ended too
                    return np.array([float(len(text)) for text in texts])
            """
        )
    )

    def run(script, **environment):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(script))
        paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.run(
            [sys.executable, path],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment,
        )

    return run
