"""Every kind of cheat, through HTTP, to the payments and to the estimate after exclusion.

Each cheats in a campaign that honest raters work in too. What is asked of each: no code and no
amount that the rules deny, nothing in the estimate once somebody is left out, and honest people who
are paid for what they did and counted in full.
"""

import csv
import io

import pytest

from steelyard import Study

PANEL = "panel: {kind: prolific, complete: DONE, screen_out: OUT}\n"
RULES = "quality: {active_seconds: 5, same_answers: 8}\n"
# What people of good will say, never the same for long, and what a cheat says.
HONEST = [{"fluency": 2}, {"fluency": 1, "edit": "A better text."}]
CHEAT = {"fluency": 0, "edit": "x"}
PAID = 0.125


class Campaign:
    """A campaign with two honest raters and a slow one; cheats come on top."""

    def __init__(self, serve, extra="", *, each=3):
        session = f"session: {{judgments: 12{extra}}}\n"
        self.server = serve(PANEL + RULES + session + f"judgments_per_output: {each}\n", outputs=12)

    def link(self, pid, visit=None):
        base = self.server.site.rater_link().partition("&")[0]
        return f"{base}&PROLIFIC_PID={pid}&STUDY_ID=st&SESSION_ID={visit or f'visit-{pid}'}"

    def arrive(self, pid, visit=None):
        found = self.server.visitor()
        found.follow(self.link(pid, visit))
        return found

    def refused(self, visitor, pid, visit=None):
        """Open a link that should lead nowhere; return what is said."""
        answer = visitor.get(self.link(pid, visit).removeprefix(self.server.origin))
        assert answer.status_code == 403
        return answer.text

    def work(self, rater, *, seconds=20, answers=HONEST, most=100):
        """Judge until there is an end, or so often; return the code and the number of judgments."""
        for done in range(most):
            given = rater.next()
            if given["status"] != "task":
                return given["return"]["url"].rpartition("cc=")[2], done
            self.server.clock.forward(seconds=seconds)
            held = given["assignment"]["id"]
            answer = answers[done % len(answers)]
            sent = rater.submit(held, answer, key=f"key-{held}", active_ms=10**12)
            assert sent.status_code == 200, sent.text
        return None, most

    def honest_people(self):
        """Let all who are honest do their work; the slow one is away for longer than a lease."""
        for pid in ("ann", "bob"):
            assert self.work(self.arrive(pid)) == ("DONE", 12)
        slow = self.arrive("slow")
        slow.next()
        self.server.clock.forward(minutes=45)
        assert self.work(slow, seconds=900) == ("DONE", 12)

    def table(self, name):
        text = self.server.admin().get(f"/admin/export/{name}").text
        return list(csv.DictReader(io.StringIO(text)))

    def payments(self):
        """Return who is paid what: the file of payments, which the bonus file agrees with."""
        found = {row["PID"]: float(row["amount"]) for row in self.table("payments.csv")}
        bonuses = self.server.admin().get("/admin/export/bonuses.csv").text.splitlines()
        in_cents = {pid: f"{amount:.2f}" for pid, amount in found.items()}
        assert dict(line.split(",") for line in bonuses) == in_cents
        return found

    def decide(self, pid, **verdicts):
        """Decide about a rater on the dashboard, by the evidence of the page with the answers."""
        admin = self.server.admin()
        people = admin.get("/admin/api/answers").json()["raters"].values()
        (rater,) = (one["id"] for one in people if one["panel_id"] == pid)
        for about, verdict in verdicts.items():
            body = {"rater": rater, "about": about, "verdict": verdict, "reason": "Cheated."}
            assert admin.send("/admin/api/decisions", body).status_code == 200

    def estimated(self):
        """Estimate from the export alone; return the judgments that count, by rater, and the means."""
        judged = self.server.campaign.directory / "judgments.jsonl"
        judged.write_text(self.server.admin().get("/admin/export/judgments.jsonl").text)
        study = Study.read(self.server.campaign.outputs, judged)
        found = study.estimate(prompts=["fluency"], metrics=[])
        counts = {}
        for row in self.table("judgments.csv?rows=all"):
            if row["use"] == "used" and row["prompt"] == "fluency":
                counts[row["rater"]] = counts.get(row["rater"], 0) + 1
        assert sum(one.n_judgments for one in found) == sum(counts.values())
        return counts, {one.system: one.estimate for one in found}

    def rater_of(self, pid):
        (name,) = {row["rater"] for row in self.table("ledger.csv") if row["panel_id"] == pid}
        return name


@pytest.fixture
def campaign(serve):
    return Campaign(serve)


def check_honest(campaign, counts, means):
    """Honest people have all their pay and all their judgments, and nobody else moves the means."""
    paid = campaign.payments()
    for pid in ("ann", "bob", "slow"):
        assert paid[pid] == 12 * PAID
        assert counts[campaign.rater_of(pid)] == 12
    # six texts of each system, half of the answers 2 and half 1
    assert sum(means.values()) / 2 == pytest.approx(1.5)
    return paid


@pytest.mark.parametrize(
    ("seconds", "answers", "judged"),
    [(1, HONEST, 5), (20, [CHEAT], 10)],
    ids=["speed", "the same answer"],
)
def test_a_rule_ends_the_visit_and_neither_pays_nor_counts(campaign, seconds, answers, judged):
    cheat = campaign.arrive("cheat")
    assert campaign.work(cheat, seconds=seconds, answers=answers) == ("OUT", judged)
    campaign.honest_people()
    counts, means = campaign.estimated()
    assert set(check_honest(campaign, counts, means)) == {"ann", "bob", "slow"}
    assert campaign.rater_of("cheat") not in counts


def test_speed_in_a_short_visit_is_not_paid_either(serve):
    server = serve(PANEL + RULES + "session: {judgments: 3}\n")
    cheat = server.visitor()
    base = server.site.rater_link().partition("&")[0]
    cheat.follow(f"{base}&PROLIFIC_PID=cheat&STUDY_ID=st&SESSION_ID=v")
    for _ in range(3):
        server.clock.forward(seconds=1)
        cheat.judge()
    assert cheat.next()["return"]["url"].endswith("cc=OUT")
    assert server.admin().get("/admin/export/payments.csv").text == "PID,amount\n"


def test_two_who_share_a_link_are_paid_as_one_and_leave_with_one_exclusion(campaign):
    one, two = campaign.arrive("cheat"), campaign.arrive("cheat")
    for number in range(6):
        held = one.next()["assignment"]["id"]
        # both hold the same text; the second to send it is not paid for it
        assert two.next()["assignment"]["id"] == held
        campaign.server.clock.forward(seconds=20)
        answers = [CHEAT | {"fluency": number % 2}, CHEAT | {"fluency": (number + 1) % 2}]
        sent = [
            who.submit(held, answer, key=f"key-{held}-{place}", active_ms=10**12)
            for place, (who, answer) in enumerate(zip((one, two), answers, strict=True))
        ]
        assert [answer.status_code for answer in sent] == [200, 409]
    assert campaign.payments() == {"cheat": 6 * PAID}
    campaign.decide("cheat", estimate="exclude")
    # neither browser goes on, and nothing is paid until somebody says so
    assert [who.next()["reason"] for who in (one, two)] == ["excluded"] * 2
    campaign.honest_people()
    counts, means = campaign.estimated()
    assert set(check_honest(campaign, counts, means)) == {"ann", "bob", "slow"}
    assert campaign.rater_of("cheat") not in counts


def test_a_second_visit_is_not_let_in_and_pays_nothing(campaign):
    first = campaign.arrive("cheat")
    assert campaign.work(first, answers=[CHEAT, {"fluency": 2}]) == ("DONE", 12)
    said = campaign.refused(campaign.server.visitor(), "cheat", "another-visit")
    assert "taken part already" in said
    # the visit that ended gives no more, whatever is sent
    assert first.next()["status"] == "done"
    assert campaign.payments() == {"cheat": 12 * PAID}
    campaign.decide("cheat", estimate="exclude", payment="refuse")
    assert campaign.payments() == {}
    campaign.honest_people()
    counts, means = campaign.estimated()
    assert set(check_honest(campaign, counts, means)) == {"ann", "bob", "slow"}
    assert campaign.rater_of("cheat") not in counts


def test_visits_that_are_opened_side_by_side_are_one(campaign):
    visits = [campaign.arrive("cheat", f"visit-{number}") for number in range(3)]
    held = visits[0].next()["assignment"]["id"]
    assert [visit.next()["assignment"]["id"] for visit in visits] == [held] * 3
    assert campaign.work(visits[0], answers=HONEST) == ("DONE", 12)
    assert [campaign.work(visit) for visit in visits[1:]] == [("OUT", 0)] * 2
    assert campaign.payments() == {"cheat": 12 * PAID}


def test_texts_that_were_handed_back_are_not_paid_on_top(campaign):
    cheat = campaign.arrive("cheat")
    held = []
    for _ in range(3):
        held.append(cheat.next()["assignment"]["id"])
        body = {"assignment": held[-1], "kind": "skip", "reason": ""}
        assert cheat.send("/api/hand-back", body).status_code == 200
    campaign.work(cheat, most=2)
    sent = [cheat.submit(name, HONEST[0], key=f"key-{name}") for name in held]
    assert [answer.status_code for answer in sent] == [409] * 3
    assert campaign.payments() == {"cheat": 2 * PAID}


def test_texts_that_came_back_are_paid_only_when_they_are_given_again(serve):
    server = serve(PANEL + "session: {judgments: 2}\n", outputs=8)
    cheat = server.visitor()
    base = server.site.rater_link().partition("&")[0]
    cheat.follow(f"{base}&PROLIFIC_PID=cheat&STUDY_ID=st&SESSION_ID=v")
    skipped = []
    while (given := cheat.next()["assignment"])["id"] not in skipped:
        skipped.append(given["id"])
        body = {"assignment": given["id"], "kind": "skip", "reason": ""}
        assert cheat.send("/api/hand-back", body).status_code == 200
    # all came back, and one of them is given; the others are nobody's
    sent = {name: cheat.submit(name, key=f"key-{name}").status_code for name in skipped}
    assert [name for name, code in sent.items() if code == 200] == [given["id"]]
    assert set(sent.values()) == {200, 409}
    cheat.judge()
    assert cheat.next()["reason"] == "session-complete"
    paid = server.admin().get("/admin/export/payments.csv").text.splitlines()
    assert paid == ["PID,amount", "cheat,0.25"]


def test_an_edited_address_is_let_in_nowhere_and_pays_nothing(serve):
    campaign = Campaign(serve, ", one_per_browser: true")
    server = campaign.server
    cheat = campaign.arrive("cheat")
    campaign.work(cheat, answers=[CHEAT, {"fluency": 2}], most=4)
    # another id in the same browser, a token that was touched, and ids that are none
    assert "this browser" in campaign.refused(cheat, "cheat-2")
    touched = campaign.link("cheat-3").replace("token=", "token=A").removeprefix(server.origin)
    assert server.visitor().get(touched).status_code == 401
    for pid in ("%7B%7B%25PROLIFIC_PID%25%7D%7D", "", "..."):
        answer = server.visitor().get(campaign.link(pid, "v").removeprefix(server.origin))
        assert answer.status_code == 400
    # addresses of others: their text, and pages of whoever runs the campaign
    victim = campaign.arrive("ann")
    held = victim.next()["assignment"]["id"]
    assert cheat.submit(held, CHEAT, key="key-stolen-00").status_code == 403
    for path in ("/admin", "/admin/api/answers", "/admin/export/payments.csv"):
        assert cheat.get(path).status_code == 401
    assert campaign.payments() == {"cheat": 4 * PAID}
    campaign.decide("cheat", estimate="exclude", payment="refuse")
    campaign.honest_people()
    counts, means = campaign.estimated()
    assert set(check_honest(campaign, counts, means)) == {"ann", "bob", "slow"}
    assert campaign.rater_of("cheat") not in counts


def test_a_replayed_request_is_stored_paid_and_counted_once(campaign):
    cheat = campaign.arrive("cheat")
    sent = []
    for _ in range(3):
        held = cheat.next()["assignment"]["id"]
        campaign.server.clock.forward(seconds=20)
        for _ in range(5):
            sent.append((held, f"key-{held}"))
            assert cheat.submit(*sent[-1][:1], CHEAT, key=sent[-1][1]).status_code == 200
        # the same text under other keys, and with another answer
        assert cheat.submit(held, {"fluency": 2}, key=f"key-{held}-more").status_code == 409
    # all of it once more at the end, and as somebody else
    assert {cheat.submit(name, CHEAT, key=key).status_code for name, key in sent} == {200}
    other = campaign.arrive("accomplice")
    assert {other.submit(name, CHEAT, key=key).status_code for name, key in sent} == {403}
    assert campaign.payments() == {"cheat": 3 * PAID}
    campaign.decide("cheat", estimate="exclude", payment="refuse")
    # a replay after the decision changes nothing either
    assert cheat.submit(sent[0][0], CHEAT, key=sent[0][1]).json()["repeated"] is True
    campaign.honest_people()
    counts, means = campaign.estimated()
    assert set(check_honest(campaign, counts, means)) == {"ann", "bob", "slow"}
    assert campaign.rater_of("cheat") not in counts


def test_an_honest_slow_rater_among_cheats_loses_nothing(campaign):
    slow = campaign.arrive("slow")
    slow.next()
    # cheats of all kinds come and go while a text lies open
    campaign.work(campaign.arrive("quick"), seconds=1)
    campaign.work(campaign.arrive("same"), answers=[CHEAT])
    replayer = campaign.arrive("replayer")
    held = replayer.next()["assignment"]["id"]
    for _ in range(4):
        replayer.submit(held, CHEAT, key="key-replayed")
    campaign.decide("replayer", estimate="exclude")
    campaign.server.clock.forward(minutes=45)
    assert campaign.work(slow, seconds=900) == ("DONE", 12)
    for pid in ("ann", "bob"):
        assert campaign.work(campaign.arrive(pid)) == ("DONE", 12)
    counts, means = campaign.estimated()
    assert set(check_honest(campaign, counts, means)) == {"ann", "bob", "slow"}
    flagged = {
        one["panel_id"]: [flag["rule"] for flag in one["flags"]]
        for one in campaign.server.admin().get("/admin/api/answers").json()["raters"].values()
    }
    assert flagged["slow"] == []
