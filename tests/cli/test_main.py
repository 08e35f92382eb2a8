import subprocess
import sys

import click
import pytest

from steelyard.cli import main
from steelyard.cli.main import steelyard


def test_help_lists_every_command_with_an_example(run):
    code, out, _ = run("--help")
    assert code == 0
    for command in steelyard.list_commands(None):
        assert command in out
        code, text, _ = run(command, "--help")
        assert code == 0
        assert "Example" in text


def test_unknown_command_is_refused(run):
    code, _, err = run("estimat")
    assert code == 2
    assert "No such command" in err
    assert err.count("\n") == 1


def test_version(run):
    from steelyard import __version__

    assert __version__ in run("--version")[1]


def test_importing_the_package_loads_nothing_heavy():
    script = (
        "import sys, steelyard; "
        "print([m for m in ('numpy','scipy','polars','matplotlib','click','fastapi','dask') "
        "if m in sys.modules]); "
        "import steelyard.study; "  # the slowest of scipy's parts, and not needed for tails
        "print([m for m in ('scipy.stats', 'scipy.optimize', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["[]", "[]"]


def test_every_public_name_is_there_and_documented():
    import steelyard

    for name in steelyard.__all__:
        found = getattr(steelyard, name)
        assert name == "__version__" or found.__doc__
    assert set(steelyard.__all__) <= set(dir(steelyard))


def test_a_command_that_is_stopped_by_a_key_says_so(run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("steelyard.cli.demo.campaign", stop)
    code, _, err = run("demo")
    assert (code, err.strip()) == (130, "steelyard: stopped")


def test_a_closed_standard_output_is_no_failure(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0


def test_a_negative_seed_is_refused(run, campaign):
    code, _, err = run("replay", *campaign, "-n", "5", "--seed", "-1")
    assert code == 2
    assert "'--seed': -1 is not in the range x>=0" in err


@pytest.mark.parametrize(
    ("command", "option"),
    [("plan", "--pair"), ("compare", "--pair"), ("monitor", "--pair"), ("sample", "--pair")],
)
def test_an_option_is_not_taken_for_the_name_of_a_system(run, tmp_path, command, option):
    (tmp_path / "o.csv").write_text("item,system,g\n1,a,2\n")
    files = [tmp_path / "o.csv"] * (1 if command == "sample" else 2)
    code, _, err = run(command, *files, option, "--prompt", "overall")
    assert (code, "Traceback" in err) == (2, False)
    assert f"`{option}` must be followed by the names of two systems; got '--prompt'" in err


def commands():
    context = click.Context(steelyard)
    for name in steelyard.list_commands(context):
        yield name, steelyard.get_command(context, name)


def test_the_command_line_stays_small():
    found = dict(commands())
    assert len(found) <= 15
    options = [
        one for command in found.values() for one in command.params if isinstance(one, click.Option)
    ]
    assert len(options) <= 170


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["report", "--human", "gold"], "--column score=COLUMN"),
        (["estimate", "--target", "pool"], "--about new-outputs"),
        (["compare", "--decimal", ","], "steelyard convert FILE --from own --decimal"),
        (["serve", "--outputs", "o.csv"], "steelyard serve --new FOLDER OUTPUTS"),
        (["estimate", "--colum", "a=b"], "No such option '--colum'. Did you mean '--column'?"),
    ],
)
def test_an_option_of_former_days_says_what_does_its_work(run, given, says):
    code, _, err = run(*given)
    assert (code, err.count("\n")) == (2, 1)
    assert says in err


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_the_help_of_a_command_fits_a_screen_and_has_an_example(name):
    command = dict(commands())[name]
    context = click.Context(command, info_name=f"steelyard {name}", max_content_width=100)
    context.terminal_width = 100
    page = command.get_help(context)
    assert len(page.splitlines()) <= 50
    assert f"  steelyard {name} " in page
    assert max(map(len, page.splitlines())) <= 110
