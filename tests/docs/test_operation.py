"""What the page about operation shows can be used as it stands."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from steelyard.cli.serve import serve

ANALYZE = shutil.which("systemd-analyze")
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "operate.md").read_text()


def block(kind):
    return re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.mark.skipif(ANALYZE is None, reason="needs systemd")
def test_systemd_accepts_the_unit(tmp_path):
    unit = tmp_path / "steelyard.service"
    # the command must be there
    unit.write_text(block("ini").replace("/srv/venv/bin/steelyard", sys.executable))
    found = subprocess.run([ANALYZE, "verify", unit], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_unit_and_container_start_the_server_with_options_that_it_has():
    unit = re.search(r"ExecStart=\S+ serve (.*)", block("ini"))[1]
    container = re.search(r"^CMD \[(.*)\]$", block("dockerfile"), re.MULTILINE)[1]
    for words in (shlex.split(unit), re.findall(r'"([^"]+)"', container)):
        context = click.Context(serve)
        serve.parse_args(context, list(words))
        assert [str(one) for one in context.params["campaigns"]] == ["campaign.yaml"]


def test_the_container_runs_as_nobody_special_and_asks_for_health():
    text = block("dockerfile")
    assert re.search(r"^USER [1-9][0-9]*$", text, re.MULTILINE)
    assert "/healthz" in text
