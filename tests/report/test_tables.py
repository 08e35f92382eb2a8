from steelyard.report.findings import prompt_findings
from steelyard.report.judge import judge_part
from steelyard.report.tables import estimates_table


def test_every_row_has_a_cell_for_every_column(study, make_study):
    plain, once = make_study(metrics=()), make_study(judgments=1, raters=1)
    for one, metrics in ((study, ("good",)), (plain, ()), (once, ("good",))):
        found = prompt_findings(one, "overall", one.systems, metrics=metrics)
        tables = [estimates_table(found, level=0.95)]
        part = judge_part(found.diagnosis, anchor="p")
        tables += [one for one in (part.metrics, part.variances, part.raters) if one is not None]
        for table in tables:
            assert {len(row) for row in table.rows} == {len(table.columns)}


def test_estimates_stand_beside_plain_means(study):
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    table = estimates_table(found, level=0.9)
    assert table.columns == (
        "system",
        "rank",
        "mean",
        "90% interval",
        "for new outputs",
        "plain mean",
        "90% interval",
        "data efficiency",
        "judgments",
        "outputs judged",
    )
    one = found.systems[0]
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["system"] == one.system
    assert row["data efficiency"] == f"{one.estimate.data_efficiency:.2f}"
    assert row["judgments"] == "28"
    assert row["outputs judged"] == "14 of 24"
