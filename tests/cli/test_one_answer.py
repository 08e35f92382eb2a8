"""The answer is the same sentence wherever it stands."""

import html
import json
import re

import steelyard as sy


def test_estimate_compare_the_page_and_json_say_the_same(run, campaign, tmp_path):
    _, out, _ = run("compare", *campaign, "--json")
    [compared] = json.loads(out)
    sentence = compared["sentence"]
    assert sentence == sy.compare(*campaign)[0].sentence
    for command in ("estimate", "compare"):
        code, out, _ = run(command, *campaign, "-o", tmp_path / "out.txt")
        assert (code, out) == (0, "")
        first = " ".join((tmp_path / "out.txt").read_text().split())
        assert first.startswith(f"overall: {sentence}")
    code, _, _ = run("report", *campaign, "-o", tmp_path / "page.html")
    assert code == 0
    page = html.unescape((tmp_path / "page.html").read_text())
    assert page.count(f'<p class="answer">{sentence}</p>') == 1


def test_money_is_said_where_a_price_is_given(run, campaign, tmp_path):
    _, out, _ = run("estimate", *campaign, "--judgment-price", "0.5")
    said = next(line for line in out.splitlines() if "were used" in line)
    used = re.search(r"(\d+) were used", said)[1]
    assert f"({int(used) / 2:.2f} instead of " in said
    run("report", *campaign, "--judgment-price", "0.5", "-o", tmp_path / "page.html")
    assert said in (tmp_path / "page.html").read_text()


def test_means_are_the_same_in_estimate_compare_and_the_page(run, campaign, tmp_path):
    _, out, _ = run("estimate", *campaign, "--json")
    means = {row["system"]: row["estimate"] for row in json.loads(out)}
    _, out, _ = run("compare", *campaign, "--json")
    [compared] = json.loads(out)
    assert {row["system"]: row["estimate"] for row in compared["ranks"]} == means
    [pair] = compared["pairs"]
    assert abs(pair["difference"] - (means[pair["a"]] - means[pair["b"]])) < 1e-9
    run("report", *campaign, "-o", tmp_path / "page.html")
    _, printed, _ = run("estimate", *campaign)
    page = (tmp_path / "page.html").read_text()
    for value in means.values():
        shown = f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
        assert shown in printed
        assert f"<td>{shown}</td>" in page
