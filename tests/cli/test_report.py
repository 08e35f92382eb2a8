def test_report_is_one_file_with_the_command_that_made_it(run, campaign, tmp_path):
    target = tmp_path / "report.html"
    code, out, _ = run("report", *campaign, "--metric", "length", "-o", target)
    assert code == 0
    assert f"wrote {target}" in out
    page = target.read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page


def test_report_into_a_missing_folder_is_refused(run, campaign, tmp_path):
    code, _, err = run("report", *campaign, "-o", tmp_path / "nowhere" / "report.html")
    assert code == 2
    assert err.count("\n") == 1
