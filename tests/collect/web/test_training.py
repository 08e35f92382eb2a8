def answer(rater, question, value):
    return rater.send("/api/tutorial", {"question": question, "answer": value})


def test_the_tutorial_comes_before_the_first_text(serve):
    rater = serve(tutorial=True).rater()
    assert rater.next() == {
        "status": "tutorial",
        "tutorial": {"version": "1", "questions": 2, "answered": [], "passed": None},
    }


def test_a_wrong_answer_gets_a_hint_and_a_second_the_explanation(serve):
    rater = serve(tutorial=True).rater()
    first = answer(rater, "q1", 0).json()
    assert first == {
        "correct": False,
        "tries_left": 1,
        "hint": "Look again.",
        "feedback": None,
        "passed": None,
    }
    second = answer(rater, "q1", 1).json()
    assert (second["tries_left"], second["hint"]) == (0, None)
    assert second["feedback"] == "It is good."


def test_what_is_right_is_told_to_nobody_who_may_still_try(serve):
    rater = serve(tutorial=True).rater()
    assert "It is good" not in rater.get("/work").text
    assert "It is good" not in rater.get("/api/task").text
    assert "It is good" not in answer(rater, "q1", 0).text
    assert "It is good" not in rater.send("/api/next", {}).text


def test_passing_leads_to_work_and_pays_the_bonus_once(serve):
    server = serve(tutorial=True)
    rater = server.rater()
    assert answer(rater, "q1", 2).json()["passed"] is None
    assert answer(rater, "q2", 0).json()["passed"] is True
    given = rater.next()
    assert given["status"] == "task"
    assert given["progress"]["earned"] == "0.50 EUR"
    # the rater comes again, from another computer: nothing of this was in a cookie
    assert server.rater().next()["progress"]["earned"] == "0.50 EUR"


def test_a_question_that_is_over_cannot_be_answered_again(serve):
    rater = serve(tutorial=True).rater()
    answer(rater, "q1", 2)
    again = answer(rater, "q1", 2)
    assert again.status_code == 409
    assert again.json()["error"]["code"] == "already-answered"
    answer(rater, "q2", 0)
    assert answer(rater, "q2", 0).status_code == 409


def test_failing_ends_the_visit(serve):
    server = serve(tutorial=True)
    rater = server.rater()
    for question in ("q1", "q2"):
        answer(rater, question, 1)
        last = answer(rater, question, 1).json()
    assert last["passed"] is False
    done = rater.next()
    assert (done["status"], done["reason"]) == ("done", "tutorial-failed")
    assert rater.submit("AAAAAAAAAAAAAAAAAAAAAA").status_code == 409


def test_progress_with_the_tutorial_comes_back(serve):
    server = serve(tutorial=True)
    answer(server.rater(), "q1", 2)
    answer(server.rater(), "q2", 2)
    assert server.rater().next()["tutorial"]["answered"] == [
        {"id": "q1", "correct": True, "tries": 1, "feedback": "It is good."},
        {"id": "q2", "correct": False, "tries": 1, "feedback": None},
    ]


def test_questions_that_are_not_there_are_refused(serve):
    assert answer(serve(tutorial=True).rater(), "q9", 1).status_code == 404


def test_a_task_without_tutorial_has_no_questions(server):
    assert answer(server.rater(), "q1", 1).status_code == 404


def test_an_answer_of_any_kind_is_graded_and_not_trusted(serve):
    server = serve(tutorial=True)
    for number, value in enumerate([None, "2", [2], {"fluency": 2}, 1e300, True, "x" * 10_000]):
        got = answer(server.rater(f"r{number}"), "q1", value)
        assert got.status_code in {200, 422}
        assert got.json().get("correct") is not True


def test_nobody_begins_the_tutorial_of_a_campaign_that_does_not_run(serve):
    server = serve(tutorial=True)
    rater, admin = server.rater(), server.admin()
    admin.send("/admin/api/state", {"state": "paused"})
    assert rater.next() == {"status": "paused"}
    admin.send("/admin/api/state", {"state": "stopped"})
    assert rater.next()["reason"] == "stopped"


def test_the_names_of_questions_do_not_reach_the_page(serve):
    server = serve(tutorial=True)
    rater = server.visitor()
    page = rater.follow(server.site.invitation("ann"))
    assert 'data-question="q1"' in page.text
    for text in (page.text, rater.get("/api/task").text, rater.send("/api/next", {}).text):
        assert "nothing-wrong" not in text
        assert "garbled" not in text
    assert answer(rater, "nothing-wrong", 2).status_code == 404
    assert answer(rater, "q1", 2).json()["correct"] is True
    assert rater.next()["tutorial"]["answered"][0]["id"] == "q1"
