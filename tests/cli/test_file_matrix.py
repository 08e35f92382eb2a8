"""Files as people have them: the right numbers, or one line that says what to do, and doing it works."""

import json
import shlex

import pytest

from file_matrix import CASES


def followed(run, case):
    """Follow `check` to a command that computes something; return its JSON and all that was said."""
    said, command = "", ["steelyard", "check", *map(str, case.files)]
    for _ in range(8):
        words = [_answered(word, case.answers) for word in command]
        verb = words[1]
        extra = ["--json"] if verb in {"check", "estimate", "compare"} else []
        code, out, err = run(*words[1:], *extra)
        assert code == 0, err
        said += err + out
        if verb in {"estimate", "compare"}:
            return json.loads(out), said
        if verb == "convert":
            [line] = [one for one in out.splitlines() if one.startswith("Next: ")]
            command = shlex.split(line.partition("steelyard")[2])
            if "OUTPUTS" not in command:
                command = ["steelyard", *command]
            elif len(case.files) == 2:
                command = ["steelyard", "check", str(case.files[0]), command[-1]]
            else:
                return None, said
            continue
        found = json.loads(out)
        if not found["usable"] and "=?" not in found["command"]:
            return None, said
        command = shlex.split(found["command"])
        if command[1] == "convert":
            command[-1] = str(case.files[0].parent / "converted")
    pytest.fail(f"check leads in a circle: {command}")


def _answered(word, answers):
    for asked, answer in answers.items():
        word = word.replace(asked, answer)
    return word


@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_right_or_one_line_says_what_to_do(run, tmp_path, name):
    case = CASES[name](tmp_path)
    if case.refused:
        code, out, err = run("check", *case.files)
        assert case.refused in out + err
        assert code == 0 or (out, err.count("\n")) == ("", 1)
        case.mended()
    found, said = followed(run, case)
    assert case.said in said
    if found is None:
        assert not case.pool, said
        return
    if "pairs" in found[0]:
        [pair] = found[0]["pairs"]
        expected = 2 * case.scores["score"].mean() - 1
        assert pair["win"]["value"] - pair["loss"]["value"] == pytest.approx(expected, abs=1e-9)
        # the fit's own digits
        assert pair["difference"] == pytest.approx(expected, abs=1e-6)
        return
    # the plain mean counts each output once
    key = ["system", *(name for name in ["item"] if name in case.scores.columns)]
    each = case.scores.groupby(key)["score"].agg(["mean", "count"]).groupby("system")
    expected = each.agg({"mean": "mean", "count": "sum"})
    assert {one["system"] for one in found} == set(expected.index)
    for one in found:
        mean, count = expected.loc[one["system"]]
        assert one["baseline"]["estimate"] == pytest.approx(mean, abs=1e-9)
        assert (one["n_judgments"], one["pool_size"]) == (count, case.pool)
        assert case.metrics is None or tuple(one["metrics"]) == case.metrics
    if case.best:
        best = min(found, key=lambda one: one["rank_low"] + one["rank_high"])
        assert best["system"] == case.best
