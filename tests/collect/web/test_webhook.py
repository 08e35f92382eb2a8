import pytest

from stand_ins import Service
from steelyard.collect.config.campaign import load_campaign
from steelyard.errors import InvalidDataError


@pytest.fixture
def told(serve):
    """Start a campaign that tells a receiver on this machine; return both."""
    with Service().running() as receiver:

        def start(extra="", **options):
            hook = f"webhook: '{receiver.address}/hook?key=secret'\n"
            return serve(hook + extra, **options), receiver

        yield start


def tend(server):
    server.portal.call(server.app.state.periodic_work.serve_outside)


def alerts(server):
    server.site.live.refresh()
    return server.portal.call(server.site.live.latest)["alerts"]


def events(receiver):
    return [body["event"] for _, _, body in receiver.asked]


def test_a_stall_is_told_once_and_again_only_after_another_judgment(told):
    server, receiver = told()
    rater = server.rater()
    rater.judge()
    server.clock.forward(minutes=59)
    tend(server)
    assert events(receiver) == []
    server.clock.forward(minutes=1)
    for _ in range(2):
        tend(server)
    assert receiver.asked == [
        (
            "POST",
            "/hook?key=secret",
            {
                "event": "stalled",
                "reason": "No judgment has come for 60 minutes.",
                "title": "A campaign",
                "dashboard": "http://127.0.0.1:8000/admin",
                "time": "2027-01-15T09:00:00.000+00:00",
                "state": "running",
                "judgments": 1,
                "lacking": 11,
                "last_judgment": "2027-01-15T08:00:00.000+00:00",
            },
        )
    ]
    rater.judge()
    tend(server)
    server.clock.forward(minutes=60)
    tend(server)
    assert events(receiver) == ["stalled"] * 2


def test_nobody_is_waited_for_while_the_campaign_is_paused(told):
    server, receiver = told()
    server.admin().send("/admin/api/state", {"state": "paused"})
    server.clock.forward(minutes=300)
    tend(server)
    server.admin().send("/admin/api/state", {"state": "running"})
    tend(server)
    assert events(receiver) == []


@pytest.mark.parametrize(
    ("extra", "judgments", "state", "reason"),
    [
        ("", 4, None, "Everything is judged."),
        ("goal: {half_width: 0.1, budget: 0.25}\n", 2, None, "The budget is spent."),
        ("", 1, "stopped", "The campaign was stopped."),
    ],
)
def test_every_kind_of_end_is_told_once(told, extra, judgments, state, reason):
    server, receiver = told(extra, outputs=4)
    rater = server.rater()
    for _ in range(judgments):
        rater.judge()
    if state:
        server.admin().send("/admin/api/state", {"state": state})
    for _ in range(2):
        tend(server)
    ((_, _, said),) = receiver.asked
    assert (said["event"], said["reason"]) == ("ended", reason)


def test_more_work_after_the_end_can_end_again(told):
    server, receiver = told(outputs=4)
    rater = server.rater()
    for _ in range(4):
        rater.judge()
    admin = server.admin()
    for state in ("stopped", "running", "stopped"):
        admin.send("/admin/api/state", {"state": state})
        tend(server)
    reasons = [body["reason"] for _, _, body in receiver.asked]
    assert reasons == [
        "The campaign was stopped.",
        "Everything is judged.",
        "The campaign was stopped.",
    ]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((500, b""), "status 500"),
        ((302, b"", {"Location": "/elsewhere"}), "status 302, and redirects are not followed"),
    ],
)
def test_a_message_that_is_not_taken_is_an_alert_and_sent_again(told, answer, says):
    server, receiver = told()
    server.admin().send("/admin/api/state", {"state": "stopped"})
    receiver.answers = [answer]
    for _ in range(2):
        tend(server)
    assert len(receiver.asked) == 1
    (shown,) = alerts(server)
    assert says in shown
    assert "secret" not in shown
    server.clock.forward(seconds=30)
    tend(server)
    assert (events(receiver), alerts(server)) == (["ended"] * 2, [])


def test_a_receiver_that_does_not_answer_keeps_nobody_from_judging(told):
    server, receiver = told()
    server.admin().send("/admin/api/state", {"state": "stopped"})
    receiver.wait.clear()
    waiting = server.portal.start_task_soon(server.app.state.periodic_work.serve_outside)
    server.admin().send("/admin/api/state", {"state": "running"})
    server.rater().judge()
    assert not waiting.done()
    receiver.wait.set()
    waiting.result()


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://127.0.0.1:9/", "no connection (ConnectError)"),
        (None, "no answer within 0.2 seconds"),
    ],
)
def test_nobody_there_is_an_alert_without_the_address(told, monkeypatch, address, says):
    server, receiver = told()
    receiver.wait.clear()
    if address is None:
        monkeypatch.setattr("steelyard.collect.integrations.webhook._PATIENCE_SECONDS", 0.2)
    else:
        server.app.state.periodic_work.webhook.address = address
    server.admin().send("/admin/api/state", {"state": "stopped"})
    tend(server)
    (shown,) = alerts(server)
    assert says in shown
    assert "127.0.0.1" not in shown


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org",
        "example.org/secret",
        "https:///secret",
        "https://user:word@example.org",
        "https://example.org/a b",
        "https://example.org/#part",
        "https://exämple.org",
        "https://example.org:99999",
    ],
)
def test_an_address_that_cannot_be_asked_is_refused_without_repeating_it(told, address):
    server, _ = told()
    path = server.campaign.directory / "campaign.yaml"
    text = path.read_text()
    path.write_text(text.replace(text.split("'")[1], address))
    with pytest.raises(InvalidDataError, match=r"must be like https://example\.org/path") as caught:
        load_campaign(path)
    assert address not in str(caught.value)
