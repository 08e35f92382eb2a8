import builtins
import socket
from pathlib import Path

import pytest


@pytest.fixture
def served(monkeypatch):
    """What would be served, instead of serving it."""
    from steelyard.collect.config.campaign import load_campaign
    from steelyard.collect.web import serving

    calls = []

    def serve(given, *, announce, **options):
        calls.append({"paths": given, **options})
        found = serving.campaign_files(given)
        for one in found:
            if one.path.exists():
                one.campaign = load_campaign(one.path)
                one.links = {
                    "raters": "http://here/join?token=R",
                    "admin": "http://here/admin?token=A",
                    "viewer": "http://here/admin?token=V",
                }
            else:
                one.trouble = "there is no file"
        announce(found)

    monkeypatch.setattr(serving, "serve", serve)
    return calls


def test_an_example_starts_at_once_and_says_what_to_do(run, served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("serve", "--example", "language-quality")
    assert (code, err) == (0, "")
    (call,) = served
    assert call == {
        "paths": (Path("language-quality", "campaign.yaml"),),
        "host": "127.0.0.1",
        "port": 8000,
        "processes": 1,
    }
    assert "  raters  http://here/join?token=R\n" in out
    assert "  admin   http://here/admin?token=A\n" in out
    assert "  viewer  http://here/admin?token=V\n" in out
    assert "steelyard estimate language-quality/outputs.jsonl judgments.jsonl" in out
    assert out.endswith("Stopped. The same command goes on from here.\n")


def test_the_same_example_goes_on_in_its_folder(run, served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert run("serve", "--example", "pairwise")[0] == 0
    assert [call["paths"][0].as_posix() for call in served] == ["pairwise/campaign.yaml"] * 2


def test_the_estimate_that_is_proposed_can_be_run_as_it_stands(run, served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, out, _ = run("serve", "--example", "language-quality")
    assert (
        "  steelyard estimate language-quality/outputs.jsonl judgments.jsonl --prompt overall "
        "--metric rouge-l --metric chrf\n"
    ) in out
    assert len(served) == 1


def test_no_estimate_is_proposed_that_would_be_refused(run, served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, out, _ = run("serve", "--example", "pairwise")
    assert "steelyard estimate" not in out
    assert len(served) == 1


@pytest.mark.parametrize(
    ("panel", "says"),
    [
        ("{kind: invitation}", "make one for each rater on the admin page"),
        ("{kind: open}", "everybody may use it"),
        ("{kind: prolific, complete: C}", "into the study at Prolific"),
        ("{kind: external-question}", "ExternalURL"),
        ("{kind: generic, rater: pid}", "fills in the dots"),
    ],
)
def test_what_to_do_with_the_link_depends_on_the_panel(run, served, tmp_path, panel, says):
    from steelyard.collect.config.new_campaign import copy_example

    path = copy_example("pairwise", tmp_path / "a")
    path.write_text(path.read_text().replace("panel: {kind: open}", f"panel: {panel}"))
    assert says in run("serve", path)[1]
    assert len(served) == 1


def test_a_mistake_of_ours_is_not_called_a_missing_extra(monkeypatch):
    from steelyard.cli import main

    import_module = builtins.__import__

    def broken(name, *rest):
        if name == "steelyard.collect.config.new_campaign":
            raise ImportError(
                "cannot import name 'x'", name="steelyard.collect.config.new_campaign"
            )
        return import_module(name, *rest)

    monkeypatch.setattr(builtins, "__import__", broken)
    with pytest.raises(ImportError, match="cannot import name"):
        main(["serve", "--example", "pairwise"])


def test_options_reach_the_server(run, served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("serve", "--example", "pairwise")
    path = tmp_path / "pairwise" / "campaign.yaml"
    where = ("--host", "0.0.0.0", "--port", 9000, "--processes", 4)  # noqa: S104
    assert run("serve", path, *where)[0] == 0
    assert served[1] == {
        "paths": (path,),
        "host": "0.0.0.0",  # noqa: S104
        "port": 9000,
        "processes": 4,
    }


def test_several_campaigns_are_announced_by_name_and_one_that_fails_with_its_reason(
    run, served, tmp_path
):
    from steelyard.collect.config.new_campaign import copy_example

    (tmp_path / "all").mkdir()
    for name in ("one", "two"):
        copy_example("pairwise", tmp_path / "all" / name)
    code, out, err = run("serve", tmp_path / "all", tmp_path / "gone.yaml")
    assert (code, err) == (0, "")
    titles = [line for line in out.splitlines() if line.startswith(("one: ", "two: ", "gone: "))]
    assert titles[-1] == "gone: not served. there is no file"
    assert len(titles) == 3
    assert out.count("  viewer  http://here/admin?token=V\n") == 2
    assert served[0]["paths"] == (tmp_path / "all", tmp_path / "gone.yaml")


def one_line(code, out, err, *, says):
    assert (code, out) == (2, "")
    assert err.startswith("steelyard: ")
    assert err.count("\n") == 1
    assert says in err


def test_something_to_serve_must_be_named_once(run, tmp_path):
    one_line(*run("serve"), says="either a campaign file, `--example` with a name or `--new`")
    both = run("serve", tmp_path / "c.yaml", "--example", "pairwise")
    one_line(*both, says="either a campaign file, `--example` with a name or `--new`")
    alone = run("serve", "--new", tmp_path / "new", tmp_path)
    one_line(*alone, says="`--new` takes one file of outputs")


def test_a_renewed_secret_is_told_of_and_nothing_is_served(run, served, tmp_path):
    from steelyard.collect.config.campaign import load_campaign
    from steelyard.collect.config.new_campaign import copy_example
    from steelyard.collect.store import Store, settings
    from steelyard.collect.web.app import prepared

    path = copy_example("pairwise", tmp_path / "a")
    one_line(*run("serve", path, "--renew-secret"), says="has no database yet")
    campaign = load_campaign(path)
    with Store.open(campaign.database) as store:
        before = prepared(campaign, store, now=1).secret
    code, out, err = run("serve", path, "--renew-secret")
    assert (code, err, served) == (0, "", [])
    assert "the secret is renewed. No link, login or visit from before works" in out
    with Store.open(campaign.database) as store:
        assert store.read(settings.current).secret != before
    example = run("serve", "--example", "pairwise", "--renew-secret")
    one_line(*example, says="`--renew-secret` is for a campaign file")


def test_a_campaign_that_is_not_there_or_not_right_is_named(run, tmp_path):
    one_line(*run("serve", tmp_path / "c.yaml"), says="c.yaml")
    (tmp_path / "c.yaml").write_text("title: A\ntitel: B\n")
    one_line(*run("serve", tmp_path / "c.yaml"), says="titel")


def test_a_port_that_is_taken_is_one_line(run, tmp_path):
    from steelyard.collect.config.new_campaign import copy_example

    path = copy_example("pairwise", tmp_path / "a")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        answer = run("serve", path, "--port", other.getsockname()[1])
    one_line(*answer, says="cannot be used: address already in use; choose another")


def test_a_database_that_does_not_answer_is_one_line_without_its_password(run, tmp_path):
    from steelyard.collect.config.new_campaign import copy_example

    path = copy_example("pairwise", tmp_path / "a")
    text = "\n".join(
        line for line in path.read_text().splitlines() if not line.startswith("database:")
    )
    address = "postgresql://me:pass-word@127.0.0.1:1/db"
    path.write_text(f"{text}\ndatabase: {address}\n")
    code, out, err = run("serve", path, "--port", 0)
    one_line(code, out, err, says="cannot open the database")
    assert "pass-word" not in err


def test_a_database_of_another_campaign_is_one_line(run, tmp_path):
    from steelyard.collect.config.campaign import load_campaign
    from steelyard.collect.config.new_campaign import copy_example
    from steelyard.collect.store import Store
    from steelyard.collect.web.app import prepared

    one = load_campaign(copy_example("direct-assessment", tmp_path / "one"))
    two = load_campaign(copy_example("pairwise", tmp_path / "two"))
    with Store.open(two.database) as store:
        prepared(one, store, now=1)
    answer = run("serve", tmp_path / "two" / "campaign.yaml", "--port", 0)
    one_line(*answer, says="belongs to another campaign")


def test_a_missing_extra_is_named(run, monkeypatch):
    import_module = builtins.__import__

    def without_fastapi(name, *rest):
        if name.startswith("steelyard.collect"):
            raise ModuleNotFoundError("No module named 'fastapi'", name="fastapi")
        return import_module(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_fastapi)
    answer = run("serve", "--example", "pairwise")
    one_line(*answer, says="needs fastapi: pip install 'steelyard[serve]'")
