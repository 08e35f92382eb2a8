import json


def test_json_follows_every_system(run, campaign):
    code, out, err = run("trajectory", *campaign, "--metric", "length", "--draws", "200", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [row["system"] for row in found] == ["alpha", "beta"]
    first = found[0]
    assert set(first["data_efficiency"]) == {"corrected", "noiseless_raters", "perfect_metric"}
    assert len(first["length"]["plain"]) == 30


def test_table_shows_the_two_limits(run, campaign):
    code, out, _ = run("trajectory", *campaign, "--metric", "length", "--draws", "200")
    assert code == 0
    assert "noiseless raters" in out
    assert "perfect metric" in out


def test_figure_is_drawn(run, campaign, tmp_path):
    for kind in ("svg", "png", "pdf"):
        target = tmp_path / f"curves.{kind}"
        code, _, _ = run(
            "trajectory", *campaign, "--metric", "length", "--draws", "200", "--figure", target
        )
        assert code == 0
        assert target.stat().st_size > 5_000


def test_bad_options_get_one_line(run, campaign):
    code, _, err = run("trajectory", *campaign, "--metric", "length", "--draws", "1")
    assert code == 2
    assert err.count("\n") == 1
    code, _, err = run("trajectory", *campaign)
    assert code == 2
    assert "--metric" in err
    code, _, err = run("trajectory", *campaign, "--metric", "length", "--figure", "curves.docx")
    assert code == 2
    assert ".svg" in err
