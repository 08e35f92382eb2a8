import shutil
import subprocess

import pytest

from stand_ins import MailServer
from steelyard.collect.campaign import load_campaign
from steelyard.errors import InvalidDataError

PASSWORD = "a-password-of-nobody"  # noqa: S105 - opens nothing


def declared(mail, security="none"):
    return (
        f"email: {{host: 127.0.0.1, port: {mail.port}, security: {security}, user: ann,"
        " password_env: MAIL_PASSWORD, from: lab@example.org,"
        " to: [ann@example.org, bob@example.org], stall_minutes: 30}\n"
    )


@pytest.fixture
def told(serve, monkeypatch):
    """Start a campaign that writes to a mail server on this machine; return both."""
    monkeypatch.setenv("MAIL_PASSWORD", PASSWORD)
    with MailServer().running() as mail:

        def start(extra="", **options):
            return serve(declared(mail) + extra, **options), mail

        yield start


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Make a certificate for an address or a name that nobody has vouched for, with its key, in one file."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("no openssl, which makes the certificate")

    def make(name):
        folder = tmp_path_factory.mktemp("certificate")
        made, key = folder / "made.pem", folder / "key.pem"
        words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=mail"
        paths = ["-keyout", key, "-out", made, "-addext", f"subjectAltName={name}"]
        subprocess.run([program, *words.split(), *paths], check=True, capture_output=True)
        made.write_text(made.read_text() + key.read_text())
        return made

    return make


def tend(server):
    server.portal.call(server.app.state.duties.serve_outside)


def alerts(server):
    server.site.live.refresh()
    return server.portal.call(server.site.live.latest)["alerts"]


def test_a_stall_is_written_once_to_all_receivers(told):
    server, mail = told()
    server.rater().judge()
    server.clock.forward(minutes=30)
    for _ in range(2):
        tend(server)
    ((receivers, message),) = mail.messages
    assert receivers == ["ann@example.org", "bob@example.org"]
    assert (message["From"], message["Subject"]) == ("lab@example.org", "A campaign: stalled")
    text = message.get_content()
    assert text.splitlines()[0] == "No judgment has come for 30 minutes."
    assert "Judgments: 1 given, 11 lacking" in text
    assert "Dashboard: http://127.0.0.1:8000/admin" in text.splitlines()
    assert "token" not in text
    assert mail.logins == [[b"ann", PASSWORD.encode()]]


def test_the_end_is_written(told):
    server, mail = told()
    server.admin().send("/admin/api/state", {"state": "stopped"})
    for _ in range(2):
        tend(server)
    ((_, message),) = mail.messages
    assert message["Subject"] == "A campaign: ended"


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_user_password_and_message_go_over_a_connection_that_is_secure(
    serve, monkeypatch, certificate, security
):
    monkeypatch.setenv("MAIL_PASSWORD", PASSWORD)
    trusted = certificate("IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with MailServer(trusted, wrapped=security == "tls").running() as mail:
        server = serve(declared(mail, security))
        server.admin().send("/admin/api/state", {"state": "stopped"})
        tend(server)
        assert len(mail.messages) == 1
        assert mail.logins == [[b"ann", PASSWORD.encode()]]
        assert mail.in_the_clear == {"starttls": ["EHLO", "STARTTLS"], "tls": []}[security]
        assert alerts(server) == []


@pytest.mark.parametrize("security", ["starttls", "tls"])
@pytest.mark.parametrize("name", ["IP:127.0.0.1", "DNS:mail.example.org"])
def test_nothing_is_told_to_a_server_with_a_certificate_that_does_not_hold(
    serve, monkeypatch, certificate, security, name
):
    monkeypatch.setenv("MAIL_PASSWORD", PASSWORD)
    made = certificate(name)
    if name.startswith("DNS"):
        # somebody vouches for it, but it is another's
        monkeypatch.setenv("SSL_CERT_FILE", str(made))
    with MailServer(made, wrapped=security == "tls").running() as mail:
        server = serve(declared(mail, security))
        server.admin().send("/admin/api/state", {"state": "stopped"})
        tend(server)
        assert (mail.messages, mail.logins) == ([], [])
        (shown,) = alerts(server)
        assert "there is no secure connection to it" in shown


def test_nothing_is_told_to_a_server_that_offers_no_security(serve, monkeypatch):
    monkeypatch.setenv("MAIL_PASSWORD", PASSWORD)
    with MailServer().running() as mail:
        server = serve(declared(mail, "starttls"))
        server.admin().send("/admin/api/state", {"state": "stopped"})
        tend(server)
        assert (mail.messages, mail.logins) == ([], [])
        (shown,) = alerts(server)
        assert "it does not offer what is needed" in shown


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"AUTH": f"535 not {PASSWORD}"}, "did not accept user and password (code 535)"),
        ({"RCPT": "550 unknown"}, "refused all receivers"),
        ({"DATA": "451 later"}, "answered with code 451"),
    ],
)
def test_a_message_that_is_not_taken_is_an_alert_and_sent_again(told, answer, says):
    server, mail = told()
    server.admin().send("/admin/api/state", {"state": "stopped"})
    mail.answers = answer
    for _ in range(2):
        tend(server)
    (shown,) = alerts(server)
    assert says in shown
    assert PASSWORD not in shown
    mail.answers = {}
    server.clock.forward(seconds=30)
    tend(server)
    assert (len(mail.messages), alerts(server)) == (1, [])


def test_webhook_and_mail_do_not_wait_for_each_other(told):
    # nobody listens at port 9
    server, mail = told("webhook: {url: 'http://127.0.0.1:9/hook'}\n")
    server.admin().send("/admin/api/state", {"state": "stopped"})
    tend(server)
    assert len(mail.messages) == 1
    (shown,) = alerts(server)
    assert "webhook" in shown


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "to: [ann@example.org, bob@example.org]",
            'to: ["a@b.c\\nBcc: d@e.f"]',
            "must be like name@",
        ),
        ("from: lab@example.org", "from: The Lab", "must be like name@example.org; got 'The Lab'"),
        (" password_env: MAIL_PASSWORD,", "", "needs `password_env` beside it"),
        ("host: 127.0.0.1", "host: mail.example.org", "must be starttls or tls"),
    ],
)
def test_what_cannot_be_sent_is_refused(told, old, new, says):
    server, _ = told()
    path = server.campaign.directory / "campaign.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InvalidDataError, match="email") as caught:
        load_campaign(path)
    assert says in str(caught.value)


def test_a_password_that_is_not_set_is_named_before_anything_is_made(told, serve, monkeypatch):
    server, _ = told()
    monkeypatch.delenv("MAIL_PASSWORD")
    extra = (server.campaign.directory / "campaign.yaml").read_text().partition("email:")[2]
    with pytest.raises(InvalidDataError, match="MAIL_PASSWORD, which holds no password: set it"):
        serve(f"email:{extra}")
