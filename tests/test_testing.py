import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.errors import InvalidArgumentError
from steelyard.testing import check_gate

pytest_plugins = ["pytester"]

TEST = """
import pytest
from steelyard import Study

@pytest.fixture
def study():
    return Study.read("outputs.csv", "judgments.csv")

def test_better(study, steelyard_gate):
    steelyard_gate(study.compare(pair=("new", "old")), "better")

def test_worse(study, steelyard_gate):
    steelyard_gate(study.compare(pair=("old", "new"), margin=0.1), "not-worse")

def test_unknown(study, steelyard_gate):
    steelyard_gate(study.compare(pair=("new", "copy")), "better")

def test_skipped(study, steelyard_gate):
    steelyard_gate(study.compare(pair=("new", "copy")), "better", undecided="skip")
"""


def frames():
    rng = np.random.default_rng(0)
    means = {"new": 2.0, "old": 0.0, "copy": 2.0}
    rows = [
        {"item": item, "system": system, "output": f"{item} {system}", "score": mean + rng.normal()}
        for system, mean in means.items()
        for item in range(40)
    ]
    frame = pl.DataFrame(rows)
    judgments = frame.drop("output").with_columns(rater=pl.lit("r"), prompt=pl.lit("p"))
    return frame.drop("score"), judgments


def test_a_gate_decides_a_test(pytester):
    outputs, judgments = frames()
    outputs.write_csv(pytester.path / "outputs.csv")
    judgments.write_csv(pytester.path / "judgments.csv")
    pytester.makeconftest('pytest_plugins = ["steelyard.testing"]')
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=2, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*gate not-worse fails: prompt p: old against new, -*",
            "*gate better is undecided: prompt p: new against copy*",
        ]
    )


def test_a_gate_that_asks_nothing_is_refused():
    study = Study.read(*frames())
    with pytest.raises(InvalidArgumentError, match="needs `pair` or `baseline`"):
        check_gate(study.compare(), "better")
    with pytest.raises(InvalidArgumentError, match='gate "not-worse" needs `margin`'):
        check_gate(study.compare(pair=("new", "old")), "not-worse")


def test_pytest_is_imported_only_by_those_who_ask_for_it():
    code = "import sys, steelyard; steelyard.Study; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
