import json

import numpy as np
import pytest

KEYS = {
    *("system", "prompt", "metrics", "method", "target", "level", "n", "pool_size", "estimate"),
    *("low", "high", "half_width", "goal", "stop", "expected_more", "exact", "balanced"),
    "notes",
}


@pytest.fixture
def collected(tmp_path):
    """One system of 600 outputs, 400 judged in a random order, not the order of the file."""
    rng = np.random.default_rng(0)
    metric = rng.uniform(size=600)
    outputs = [
        {"item": str(i), "system": "alpha", "length": round(float(g), 6)}
        for i, g in enumerate(metric)
    ]
    judgments = [
        {
            "item": str(item),
            "system": "alpha",
            "rater": f"r{position % 3}",
            "prompt": "overall",
            "score": float(rng.uniform() < metric[item]),
            "time": f"2024-05-01T{position // 60:02d}:{position % 60:02d}:00",
        }
        for position, item in enumerate(rng.permutation(600)[:400])
    ]
    return tmp_path, outputs, judgments


def write(folder, outputs, judgments):
    paths = folder / "outputs.jsonl", folder / "judgments.jsonl"
    for path, rows in zip(paths, (outputs, judgments), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def monitored(run, paths, *options):
    code, out, err = run("monitor", *paths, "--json", *options)
    assert (code, err) == (0, "")
    [found] = json.loads(out)
    return found


def test_json_says_where_collection_stands(run, collected):
    paths = write(*collected)
    found = monitored(run, paths, "--half-width", "0.015", "--metric", "length")
    assert set(found) == KEYS
    assert (found["n"], found["pool_size"], found["target"]) == (400, 600, "census")
    assert found["low"] < found["estimate"] < found["high"]
    assert found["half_width"] == pytest.approx((found["high"] - found["low"]) / 2)
    assert not found["stop"]
    assert 0 < found["expected_more"] < 200
    reached = monitored(run, paths, "--half-width", "0.06", "--metric", "length")
    assert (reached["stop"], reached["expected_more"]) == (True, 0)


def test_expected_judgments_are_about_right(run, collected):
    folder, outputs, judgments = collected
    options = ("--half-width", "0.05")
    early = monitored(run, write(folder, outputs, judgments[:150]), *options)
    needed = 150 + early["expected_more"]
    there = monitored(run, write(folder, outputs, judgments[:needed]), *options)
    assert there["half_width"] == pytest.approx(0.05, rel=0.1)


def test_order_is_that_of_time_and_else_that_of_the_file(run, collected):
    folder, outputs, judgments = collected
    options = ("--half-width", "0.05", "--metric", "length")
    by_file = monitored(run, write(folder, outputs, judgments), *options)
    shuffled = [judgments[i] for i in np.random.default_rng(1).permutation(400)]
    assert monitored(run, write(folder, outputs, shuffled), *options) == by_file
    for row, position in zip(judgments, range(400), strict=True):
        row["time"] = position  # numbers, that text would put in another order
    assert monitored(run, write(folder, outputs, shuffled), *options) == by_file
    timeless = [{key: row[key] for key in row if key != "time"} for row in shuffled]
    assert monitored(run, write(folder, outputs, timeless), *options) != by_file
    shuffled[7]["time"] = "yesterday"
    code, _, err = run("monitor", *write(folder, outputs, shuffled), *options)
    assert code == 2
    assert "line 8, column time: expected a number or a date" in err


def test_the_order_of_the_draw_goes_before_that_of_arrival(run, collected):
    folder, outputs, judgments = collected
    early = [row | {"draw": number} for number, row in enumerate(judgments, 1) if number % 100]
    options = ("--half-width", "0.05")
    found = monitored(run, write(folder, outputs, early), *options)
    assert found["n"] == 99
    assert "297 judged outputs wait for those drawn before them" in found["notes"][0]
    # the same from the file of the sample
    sample = folder / "sample.jsonl"
    drawn = [
        {"item": row["item"], "system": "alpha", "output": "", "draw": row["draw"]} for row in early
    ]
    sample.write_text("".join(json.dumps(row) + "\n" for row in drawn))
    plain = [{key: row[key] for key in row if key != "draw"} for row in early]
    paths = write(folder, outputs, plain)
    assert monitored(run, paths, *options)["n"] == 396
    assert monitored(run, paths, *options, "--sample", sample) == found


def test_a_draw_that_was_not_simple_gets_one_line(run, collected):
    folder, outputs, judgments = collected
    drawn = [
        row | {"probability": 0.5, "design": "paired", "draw": number}
        for number, row in enumerate(judgments, 1)
    ]
    code, _, err = run("monitor", *write(folder, outputs, drawn), "--half-width", "0.05")
    assert code == 2
    assert err.count("\n") == 1
    assert "paired draw" in err


def test_only_complete_outputs_enter(run, collected):
    folder, outputs, judgments = collected
    once = monitored(run, write(folder, outputs, judgments), "--half-width", "0.05")
    again = [
        row | {"rater": "late", "score": 1 - row["score"], "time": "2024-05-02"}
        for row in judgments[:100]
    ]
    paths = write(folder, outputs, judgments + again)
    first = monitored(run, paths, "--half-width", "0.05")
    assert first["half_width"] == once["half_width"]
    assert "100 judgments are not used" in first["notes"][0]
    both = monitored(run, paths, "--half-width", "0.05", "--judgments-per-output", "2")
    assert (both["n"], both["estimate"]) == (100, pytest.approx(0.5))
    assert both["notes"] == ["300 outputs wait for their 2 judgments"]
    every = monitored(run, paths, "--half-width", "0.05", "--replacement")
    assert (every["n"], every["target"], every["notes"]) == (500, "pool", [])


def test_methods_and_targets_are_passed_on(run, collected):
    paths = write(*collected)
    for method in ("betting", "empirical-bernstein", "asymptotic"):
        found = monitored(run, paths, "--half-width", "0.05", "--method", method)
        assert found["method"] == method
    pool = monitored(run, paths, "--half-width", "0.05", "--target", "pool")
    assert (pool["target"], pool["stop"], pool["expected_more"]) == ("pool", False, None)
    assert "rater noise adds 0.0707" in pool["notes"][0]
    assert "cannot be reached" in pool["notes"][1]
    known = monitored(
        run, paths, "--half-width", "0.05", "--target", "pool", "--rater-variance", "0.01"
    )
    assert known["half_width"] < pool["half_width"]


def test_says_when_there_is_no_interval_yet(run, collected):
    folder, outputs, judgments = collected
    paths = write(folder, outputs, judgments[:20])
    found = monitored(run, paths, "--half-width", "0.05", "--method", "asymptotic")
    # that 20 of 600 outputs have their scores is all that is known
    assert (found["half_width"], found["expected_more"]) == (pytest.approx(290 / 600), None)
    assert found["notes"][0].startswith("no interval yet")


def test_table_says_stop_or_go_on(run, campaign):
    options = ("--bounds=-8,8", "--judgments-per-output", "2")
    code, out, _ = run("monitor", *campaign, "--half-width", "0.3", *options)
    assert code == 0
    assert out.count("go on") == 2
    code, out, _ = run("monitor", *campaign, "--half-width", "7", *options, "--metric", "length")
    assert code == 0
    assert out.count("stop") == 2
    assert "metrics length; betting; target census" in out


def test_figure_is_drawn(run, campaign, tmp_path):
    for kind in ("svg", "png", "pdf"):
        target = tmp_path / f"path.{kind}"
        code, _, _ = run(
            "monitor", *campaign, "--half-width", "1", "--bounds=-8,8", "--figure", target
        )
        assert code == 0
        assert target.stat().st_size > 5_000


def test_figure_can_show_a_campaign_that_has_only_begun(run, collected, tmp_path):
    folder, outputs, judgments = collected
    paths = write(folder, outputs, judgments[:1])
    target = tmp_path / "path.svg"
    code, _, _ = run("monitor", *paths, "--half-width", "0.05", "--figure", target)
    assert code == 0
    code, _, _ = run(
        "monitor", *paths, "--half-width", "0.05", "--judgments-per-output", 2, "--figure", target
    )
    assert code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--half-width"),
        (("--half-width", "0"), "`--half-width` must be greater than 0"),
        (("--half-width", "1"), "lies outside `--bounds` [0, 1], as do"),
        (("--half-width", "1", "--bounds", "one"), "`--bounds` must be two numbers"),
        (
            ("--half-width", "1", "--bounds=-8,8", "--judgments-per-output", "0"),
            "must be at least 1",
        ),
        (
            ("--half-width", "1", "--bounds=-8,8", "--judgments-per-output", "2", "--replacement"),
            "must be 1 with replacement",
        ),
        (("--half-width", "1", "--prompt", "none"), "'none' has no judgments"),
        (("--half-width", "1", "--bounds=-8,8", "--figure", "path.docx"), ".svg"),
    ],
)
def test_bad_options_get_one_line(run, campaign, options, message):
    code, _, err = run("monitor", *campaign, *options)
    assert code == 2
    assert err.count("\n") == 1
    assert message in err


def test_a_prompt_that_a_system_was_not_judged_under_is_named(run, collected):
    folder, outputs, judgments = collected
    outputs += [row | {"system": "beta"} for row in outputs]
    judgments.append(judgments[0] | {"system": "beta", "prompt": "fluency"})
    paths = write(folder, outputs, judgments)
    code, _, err = run(
        "monitor", *paths, "--half-width", "1", "--prompt", "fluency", "--system", "alpha"
    )
    assert code == 2
    assert "system 'alpha' has no judgments under fluency in" in err
    assert "there are: beta" in err


def whole(tmp_path, size):
    """A pool of `size` outputs, each judged once between 0 and 100."""
    outputs, judgments = tmp_path / "o.csv", tmp_path / "j.csv"
    scores = np.random.default_rng(size).uniform(10, 60, size).round(2)
    outputs.write_text("item,system,m\n" + "".join(f"{n},s,{n % 5}\n" for n in range(size)))
    judgments.write_text(
        "item,system,rater,prompt,score\n"
        + "".join(f"{n},s,r,p,{score}\n" for n, score in enumerate(scores))
    )
    return outputs, judgments, float(scores.mean())


@pytest.mark.parametrize("size", [1, 2, 60])
@pytest.mark.parametrize("method", ["betting", "empirical-bernstein", "asymptotic"])
def test_a_census_that_is_complete_is_known_and_not_estimated(run, tmp_path, size, method):
    outputs, judgments, mean = whole(tmp_path, size)
    options = ["--half-width", "5", "--bounds", "0,100", "--method", method]
    for target in ([], ["--target", "census"]):
        code, out, _ = run("monitor", outputs, judgments, *options, *target)
        assert code == 0
        assert "known exactly" in out
        assert "all judged" in out
        assert "[" not in out
        assert "census by this very process" in out
        _, out, _ = run("monitor", outputs, judgments, *options, *target, "--json")
        [found] = json.loads(out)
        assert found["estimate"] == pytest.approx(mean)
        assert (found["low"], found["high"], found["half_width"]) == (None, None, None)
        assert (found["exact"], found["expected_more"]) == (True, 0)
        assert found["stop"] == (size > 1)
    _, out, _ = run("monitor", outputs, judgments, *options, "--target", "pool", "--json")
    [found] = json.loads(out)
    assert not found["exact"]
    assert found["low"] < found["high"]


def test_one_judgment_never_stops_a_collection(run, tmp_path):
    outputs, judgments, _ = whole(tmp_path, 60)
    judgments.write_text("".join(judgments.read_text().splitlines(keepends=True)[:2]))
    for more in ([], ["--replacement"], ["--method", "asymptotic"]):
        options = ["--half-width", "60", "--bounds", "0,100", *more]
        _, out, _ = run("monitor", outputs, judgments, *options, "--json")
        [found] = json.loads(out)
        assert (found["n"], found["stop"], found["expected_more"]) == (1, False, 1)
        assert found["low"] < found["high"]


@pytest.fixture
def racing(tmp_path):
    """Three systems of 200 items, of which 120 are judged for all, in the order of the draw."""
    rng = np.random.default_rng(1)
    outputs = [
        {"item": str(item), "system": system, "length": 1.0}
        for system in ("[a]", "b", "c")
        for item in range(200)
    ]
    judgments = [
        {
            "item": str(item),
            "system": system,
            "rater": "r",
            "prompt": "overall",
            "score": float(np.clip(mean + 0.2 * rng.normal(), 0, 1)),
            "draw": number,
        }
        for number, item in enumerate(rng.permutation(200)[:120], start=1)
        for system, mean in (("[a]", 0.7), ("b", 0.68), ("c", 0.3))
    ]
    return write(tmp_path, outputs, judgments)


def test_a_race_says_who_is_out_who_is_in_and_what_is_left_to_pay(run, racing):
    code, out, err = run("monitor", *racing, "--goal", "best", "--judgment-price", "0.5")
    assert (code, err) == (0, "")
    assert "[a]" in out
    assert "out at item" in out
    assert "systems may be the best" in out
    assert "more are expected, for" in out
    assert "the best system is never let go, at all looks together; exactly" in out


def test_a_race_is_over_at_its_margin(run, racing):
    code, out, _ = run("monitor", *racing, "--goal", "best", "--margin", "0.1", "--json")
    [found] = json.loads(out)
    assert code == 0
    assert (found["decided"], found["stop"]) == (True, True)
    assert found["winner"] in {"[a]", "b"}
    assert "at most 0.1 below the best" in found["answer"]


def test_a_race_names_its_metrics(run, racing):
    code, out, err = run("monitor", *racing, "--goal", "best", "--metric", "length")
    assert (code, err) == (0, "")
    assert "metrics length" in out
    assert "the metrics foretold nothing" in out


def test_goals_of_pairs_print_pairs(run, racing):
    _, out, _ = run("monitor", *racing, "--goal", "difference=0.1", "--json")
    [found] = json.loads(out)
    assert [one["verdict"] for one in found["pairs"]] == ["equivalent", "a", "a"]
    assert found["margin"] == 0.1
    _, out, _ = run("monitor", *racing, "--goal", "order", "--json")
    [found] = json.loads(out)
    assert found["expected_more"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "`--half-width` or `--goal` is needed"),
        (("--goal", "worst"), "must be best, order or difference=D; got worst"),
        (("--goal", "difference=x"), "difference needs a number"),
        (("--goal", "difference=-1"), "difference needs a number greater than 0"),
        (("--goal", "best", "--metric", "size"), "no metric `size`"),
        (("--goal", "best", "--half-width", "1"), "`--half-width` does not go with --goal"),
        (("--goal", "best", "--method", "empirical-bernstein"), "`--method` must be betting or"),
        (("--goal", "difference=0.1", "--margin", "0.1"), "`--margin` does not go with"),
        (("--half-width", "0.1", "--margin", "0.1"), "`--margin` goes with --goal only"),
        (
            ("--goal", "best", "--bounds", "none", "--method", "betting"),
            "`--bounds` must be two finite numbers",
        ),
    ],
)
def test_options_of_races_that_do_not_go_together_are_refused(run, racing, options, message):
    code, out, err = run("monitor", *racing, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
