"""Questions before the work and at its end."""

import csv
import io

import pytest

from steelyard.errors import InvalidDataError

SCREENING = """\
screening:
  - ask: {id: reads, kind: gate, label: Do you read English every day?, options: [{value: "yes", label: Yes}, {value: "no", label: No}]}
    answer: "yes"
  - ask: {id: years, kind: slider, label: For how many years?, max: 60, when: reads = "yes"}
    answer: {min: 2, max: 60}
"""
EXIT = """\
exit_questions:
  - {id: clear, kind: likert, label: Was it clear?, levels: [{value: 1}, {value: 2}, {value: 3}]}
  - {id: words, kind: comment, label: Anything else?}
"""
PROLIFIC = (
    "panel: {kind: prolific, complete: DONE, screen_out: OUT}\n"
    "session: {judgments: 1, one_per_browser: true}\n"
)


def from_panel(server, name, visitor=None):
    rater = visitor or server.visitor()
    base = server.site.rater_link().partition("&")[0]
    return rater, f"{base}&PROLIFIC_PID={name}&STUDY_ID=st&SESSION_ID=s-{name}"


def answer(rater, part="screening", **given):
    return rater.send("/api/questions", {"part": part, "answer": given})


def questions(server):
    return list(csv.DictReader(io.StringIO(server.admin().get("/admin/export/questions.csv").text)))


def test_who_answers_as_accepted_goes_on_to_the_work(serve):
    server = serve(SCREENING, tutorial=True)
    rater = server.rater()
    assert rater.next() == {"status": "questions", "part": "screening"}
    assert answer(rater, reads="yes", years=5).status_code == 200
    assert rater.next()["status"] == "tutorial"
    assert [(row["question"], row["answer"], row["passed"]) for row in questions(server)] == [
        ("reads", "yes", "true"),
        ("years", "5", "true"),
    ]


@pytest.mark.parametrize("given", [{"reads": "no"}, {"reads": "yes", "years": 1}])
def test_who_answers_otherwise_leaves_with_the_screen_out_code_and_no_second_try(serve, given):
    server = serve(SCREENING + PROLIFIC)
    rater, link = from_panel(server, "p1")
    rater.follow(link)
    rater.next()
    answer(rater, **given)
    end = rater.next()
    assert (end["status"], end["reason"]) == ("done", "screened-out")
    assert end["return"]["url"].endswith("cc=OUT")
    assert answer(rater, reads="yes", years=5).status_code == 409
    assert rater.next()["reason"] == "screened-out"
    # nor under another name in the same browser
    _, other = from_panel(server, "p2", rater)
    assert rater.get(other.removeprefix(server.origin)).status_code == 403
    assert server.admin().get("/admin/export/ledger.csv").text.count("\n") == 1


def test_what_is_accepted_never_reaches_the_page(serve):
    server = serve(SCREENING.replace('"yes"', '"zebra"').replace("label: Yes", "label: Zebra"))
    page = server.rater().get("/work").text
    assert page.count("zebra") == page.count('"zebra"') + page.count("&#34;zebra&#34;")
    assert '"answer"' not in page.partition("data-questions")[2].partition("</section>")[0]


def test_an_answer_must_be_complete(serve):
    rater = serve(SCREENING).rater()
    refused = answer(rater, reads="yes")
    assert refused.status_code == 422
    assert [one["widget"] for one in refused.json()["error"]["problems"]] == ["years"]
    assert answer(rater, reads="no", years=5).status_code == 422
    assert answer(rater, "exit", clear=1).status_code == 404


def test_new_questions_are_not_put_to_who_has_judged_something(serve):
    serve().rater().judge()
    assert serve(SCREENING).rater().next()["status"] == "task"


def test_other_wording_asks_nobody_anew(serve):
    answer(serve(SCREENING).rater(), reads="yes", years=5)
    assert serve(SCREENING.replace("For how", "Since how")).rater().next()["status"] == "task"


def test_questions_at_the_end_come_before_the_completion_code(serve):
    server = serve(EXIT + PROLIFIC)
    rater, link = from_panel(server, "p1")
    rater.follow(link)
    rater.judge()
    assert rater.next() == {"status": "questions", "part": "exit"}
    assert answer(rater, "exit", words="=no").status_code == 422
    assert answer(rater, "exit", clear=3, words="=no").status_code == 200
    assert rater.next()["return"]["url"].endswith("cc=DONE")
    assert [(row["part"], row["answer"]) for row in questions(server)] == [
        ("exit", "3"),
        ("exit", "'=no"),
    ]


def test_who_judged_nothing_or_is_excluded_is_asked_nothing_at_the_end(serve):
    server = serve(EXIT, outputs=2)
    ann, bob = server.rater("ann"), server.rater("bob")
    ann.judge()
    ann.judge()
    assert ann.next()["status"] == "questions"
    assert bob.next()["reason"] == "none-left"
    rater = server.admin().get("/admin/api/snapshot").json()["raters"][0]["id"]
    decision = {"rater": rater, "about": "estimate", "verdict": "exclude", "reason": "x"}
    server.admin().send("/admin/api/decisions", decision)
    assert ann.next()["reason"] == "excluded"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('answer: "yes"', "answer: maybe", r"screening\[0\].answer: 'maybe' is not an answer"),
        ("when: reads", "when: weight", r"screening\[1\].ask.when: refers to weight"),
        ("id: years", "id: reads", r"screening\[1\].ask.id: must differ"),
        ("kind: gate", "kind: spans", r"key screening\[0\].ask: kind 'spans' is not"),
    ],
)
def test_a_mistake_in_the_questions_is_named(serve, old, new, message):
    with pytest.raises(InvalidDataError, match=message):
        serve(SCREENING.replace(old, new))


def test_questions_that_screen_nobody_out_are_a_mistake(serve):
    text = "\n".join(line for line in SCREENING.splitlines() if "answer:" not in line) + "\n"
    with pytest.raises(InvalidDataError, match="must have an `answer` to one of them"):
        serve(text)
