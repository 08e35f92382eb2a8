import polars as pl

from steelyard.report.examples import examples
from steelyard.report.findings import prompt_findings
from steelyard.study import Study


def made(rows, **more):
    """Return a study of one system: (metric, score) of each output, each judged once."""
    outputs = [
        {"item": f"i{n}", "system": "s", "m": metric, "output": f"text {n}", **more}
        for n, (metric, _) in enumerate(rows)
    ]
    judgments = [
        {"item": f"i{n}", "system": "s", "rater": "r", "prompt": "p", "score": score}
        for n, (_, score) in enumerate(rows)
    ]
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))


def shown(study):
    groups = examples(study, prompt_findings(study, "p", study.systems))
    return {group.title: [one.item for one in group.examples] for group in groups}


AGREEING = [(3.0, 5.0), (2.0, 4.0), (-3.0, 1.0), (-2.0, 2.0), (0.1, 3.0), (-0.1, 3.1)]


def test_the_clearest_cases_of_each_kind_come_first():
    assert shown(made([*AGREEING, (2.5, 1.5), (-2.4, 4.5)])) == {
        "Both high": ["i0", "i1"],
        "Both low": ["i2", "i3"],
        "People high, metric low": ["i7"],
        "People low, metric high": ["i6"],
    }


def test_a_metric_that_falls_when_judgments_rise_is_turned_around():
    turned = [(-metric, score) for metric, score in AGREEING]
    assert shown(made(turned)) == shown(made(AGREEING))


def test_high_and_low_are_meant_within_a_system(make_study):
    study = make_study(("a", "b"), judged=20)
    found = prompt_findings(study, "overall", study.systems)
    up = study.outputs.rows().with_columns(
        pl.col(study.metrics) + 100 * (pl.col("system") == "b").cast(pl.Float64)
    )
    moved = Study.read(up, study.judgments.frame)
    keys = [
        [(one.system, one.item) for group in examples(which, found) for one in group.examples]
        for which in (study, moved)
    ]
    assert keys[0] == keys[1]
    assert keys[0]


def test_texts_are_shown_and_long_ones_cut_at_a_space():
    study = made(AGREEING, input="why?")
    long = study.outputs.rows().with_columns(output=pl.lit("word " * 400))
    found = prompt_findings(study, "p", study.systems)
    [one, *_] = examples(study, found)[0].examples
    assert (one.text, one.rest, one.input, one.judged) == (
        "text 0",
        0,
        "why?",
        "5.00 in 1 judgment",
    )
    [cut, *_] = examples(Study.read(long, study.judgments.frame), found)[0].examples
    assert cut.text.endswith("word …")
    assert len(cut.text) <= 602
    assert cut.rest == 2000 - len(cut.text.removesuffix(" …"))


def test_without_texts_or_metrics_or_spread_there_are_no_examples(make_study):
    study = made(AGREEING)
    bare = Study.read(study.outputs.rows().drop("output"), study.judgments.frame)
    assert examples(bare, prompt_findings(bare, "p", bare.systems)) == []
    plain = make_study(metrics=())
    assert examples(plain, prompt_findings(plain, "overall", plain.systems)) == []
    assert shown(made([(1.0, float(n % 3)) for n in range(6)])) == {}


def test_texts_that_look_like_markdown_are_laid_out_and_nothing_in_them_runs():
    from steelyard.report.examples import Example

    def html(text):
        one = Example("a", "1", "3 in 1 judgment", "0.5", text=text, rest=0, input=None)
        assert one.input_html == ""
        return one.text_html

    assert "<strong>very</strong>" in html("**very** good")
    assert html("a * b < c") == "a * b &lt; c"
    assert "<script" not in html("# A\n\n<script>x</script>")
