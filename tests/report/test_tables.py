from steelyard.report.findings import prompt_findings
from steelyard.report.tables import (
    agreement_table,
    components_table,
    estimates_table,
    metrics_tables,
)


def test_every_row_has_a_cell_for_every_column(study, make_study):
    plain, once = make_study(metrics=()), make_study(judgments=1, raters=1)
    for one, metrics in ((study, ("good",)), (plain, ()), (once, ("good",))):
        found = prompt_findings(one, "overall", one.systems, metrics=metrics)
        tables = [estimates_table(found, level=0.95)]
        if found.diagnoses:
            tables += [components_table(found.diagnoses), agreement_table(found.diagnoses)]
        if found.overall and found.overall.metrics:
            tables.append(metrics_tables(found.overall)[0])
        for table in tables:
            assert {len(row) for row in table.rows} == {len(table.columns)}


def test_estimates_stand_beside_plain_means(study):
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    table = estimates_table(found, level=0.9)
    assert table.columns == (
        "system",
        "estimate",
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


def test_all_systems_and_all_metrics_come_last(study):
    found = prompt_findings(study, "overall", study.systems, metrics=study.metrics)
    assert components_table(found.diagnoses).rows[-1][0] == "all systems"
    shown, more = metrics_tables(found.overall)
    assert shown.rows[-1][0] == "together"
    assert shown.last_is_total
    assert more is None


def test_of_many_metrics_the_most_useful_stand_first_and_the_others_apart(make_study):
    names = tuple(f"m{number}" for number in range(15))
    study = make_study(("only",), metrics=names, judged=24)
    found = prompt_findings(study, "overall", study.systems)
    shown, more = metrics_tables(found.overall)
    assert "the best 10 of 15" in shown.caption
    order = [row[0] for row in shown.rows[:10]] + [row[0] for row in more.rows]
    assert order == list(found.overall.metrics)
