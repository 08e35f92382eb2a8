"""The first page, consent, and leaving."""

import pytest

WELCOME = """\
welcome:
  purpose: We find out how good summaries are.
  consent: I am 18 or older, and agree that my answers are kept.
"""
PROLIFIC = "panel: {kind: prolific, complete: DONE, screen_out: OUT, no_consent: NO}\n"


def test_the_first_page_says_purpose_time_and_pay_and_asks_for_consent(serve):
    rater = serve(WELCOME, tutorial=True).rater()
    found = rater.next()
    assert found["status"] == "welcome"
    assert found["welcome"]["purpose"] == "We find out how good summaries are."
    assert "is paid 0.125 EUR" in found["welcome"]["terms"]
    assert rater.send("/api/consent", {"agreed": True}).json() == {"agreed": True}
    assert rater.next()["status"] == "tutorial"


def test_who_does_not_agree_goes_back_with_the_code_for_that(serve):
    server = serve(WELCOME + PROLIFIC)
    rater = server.visitor()
    base = server.site.rater_link().partition("&")[0]
    rater.follow(f"{base}&PROLIFIC_PID=p1&STUDY_ID=st&SESSION_ID=s1")
    rater.send("/api/consent", {"agreed": False})
    end = rater.next()
    assert (end["status"], end["reason"]) == ("done", "no-consent")
    assert end["return"]["url"].endswith("cc=NO")
    # a change of mind is possible, and the last word counts
    rater.send("/api/consent", {"agreed": True})
    assert rater.next()["status"] == "task"


def test_other_words_ask_anew(serve):
    server = serve(WELCOME)
    rater = server.rater()
    rater.send("/api/consent", {"agreed": True})
    assert rater.next()["status"] == "task"
    again = serve(WELCOME.replace("18", "21")).rater()
    assert again.next()["status"] == "welcome"


def test_nothing_is_asked_where_nothing_is_declared(server):
    rater = server.rater()
    assert rater.next()["status"] == "task"
    assert rater.send("/api/consent", {"agreed": True}).status_code == 404


def test_who_leaves_needs_the_link_again(server):
    rater = server.rater()
    held = rater.next()["assignment"]["id"]
    left = rater.send("/api/leave", {})
    assert left.json() == {"left": True}
    assert "Max-Age=0" in left.headers["set-cookie"]
    rater.client.cookies.clear()
    assert rater.send("/api/next", {}).status_code == 401
    assert server.rater().next()["assignment"]["id"] == held


@pytest.mark.parametrize("welcome", ["welcome: {consent: Yes.}\n", "welcome: {purpose: ''}\n"])
def test_the_first_page_must_say_what_it_is_for(serve, welcome):
    with pytest.raises(ValueError, match=r"campaign.yaml, line \d+, key welcome.purpose"):
        serve(welcome)


@pytest.mark.parametrize(("language", "amount"), [("en", "0.125 EUR"), ("de", "0,125 EUR")])
def test_amounts_are_written_as_in_the_language_of_the_page(serve, language, amount):
    server = serve(f"language: {language}\nwelcome: {{purpose: Zweck.}}\n")
    rater = server.visitor()
    page = rater.follow(server.site.invitation("ann"))
    assert amount in page.text
    rater.send("/api/consent", {"agreed": True})
    assert rater.judge()["earned"] == amount
