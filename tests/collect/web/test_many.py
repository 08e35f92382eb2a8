"""Several campaigns behind one address."""

import json
import re
from contextlib import ExitStack

import pytest
from starlette.testclient import TestClient

from stand_ins import Service
from steelyard.collect.web.campaigns import (
    campaign_files,
    opened_campaigns,
    read_campaigns,
    several,
)
from steelyard.errors import InvalidArgumentError

TASK = (
    "{name: t, title: T, show: [{field: output}], "
    "widgets: [{id: q, kind: slider, label: Q, min: 0, max: 100, step: 1}], "
    "scores: [{prompt: q, rule: value, from: q}]}"
)
ORIGIN = "http://127.0.0.1:8000"


@pytest.fixture
def write(tmp_path):
    """Write a campaign into a folder; return its file."""

    def write(name, extra="", file="campaign.yaml"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        rows = [{"item": f"{n}", "system": "a", "output": f"{name} {n}."} for n in range(4)]
        (folder / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "task.yaml").write_text(TASK)
        (folder / file).write_text(
            f"title: Campaign {name}\noutputs: outputs.jsonl\ntask: task.yaml\n"
            f"sample: {{n: 4, seed: 1}}\npanel: {{kind: open}}\n{extra}"
        )
        return folder / file

    return write


class Served:
    """A server with several campaigns, in this process."""

    def __init__(self, opened):
        self.links = {one.name: one.links for one in opened}
        self.trouble = {one.name: one.trouble for one in opened}
        self.apps = {one.name: one.app for one in opened if one.app is not None}
        self.client = TestClient(several(opened), base_url=ORIGIN, follow_redirects=False)

    def follow(self, link):
        """Open a link and where it leads; return the page."""
        answer = self.client.get(link)
        assert answer.status_code == 303, answer.text
        return self.client.get(answer.headers["location"])

    def judge(self, name):
        """Judge a text as a new rater; return what was shown and what the server says."""
        page = self.follow(self.links[name]["raters"])
        word = re.search(r'csrf-token" content="([^"]+)"', page.text)[1]

        def call(path, body):
            answer = self.client.post(f"/{name}{path}", json=body, headers={"X-CSRF-Token": word})
            assert answer.status_code == 200, answer.text
            return answer.json()

        given = call("/api/next", {})["assignment"]
        key = f"key-{given['id']}"
        sent = {"assignment": given["id"], "key": key, "answer": {"q": 5}, "active_ms": 1}
        return given["content"]["output"], call("/api/submit", sent)


@pytest.fixture
def serve(observer_here):  # noqa: ARG001 - for quickness
    with ExitStack() as stack:

        def start(*paths):
            opened = stack.enter_context(opened_campaigns(read_campaigns(paths), origin=ORIGIN))
            served = Served(opened)
            stack.enter_context(served.client)
            return served

        yield start


def test_each_campaign_has_its_own_links_cookies_pages_and_database(write, serve, tmp_path):
    for name in ("one", "two"):
        write(name)
    served = serve(tmp_path)
    assert served.links["one"]["raters"].startswith(f"{ORIGIN}/one/join/open?token=")
    # one browser takes part in both, and neither knows of the other
    for name in ("one", "two", "one"):
        shown, stored = served.judge(name)
        assert shown.startswith(name)
        assert stored["accepted"] is True
    cookies = {(one.name, one.path) for one in served.client.cookies.jar}
    assert len(cookies) == 2
    assert {path for _, path in cookies} == {"/one/", "/two/"}
    page = served.follow(served.links["two"]["admin"])
    assert "Campaign two" in page.text
    assert '"/two/static/admin/main.js"' in page.text
    assert served.client.get("/one/admin").status_code == 401
    assert served.client.get("/two/static/admin/main.js").status_code == 200
    assert (tmp_path / "one" / "campaign.sqlite").exists()


def test_a_link_of_one_campaign_opens_nothing_in_another(write, serve, tmp_path):
    for name in ("one", "two"):
        write(name)
    served = serve(tmp_path)
    for link in (served.links["one"]["admin"], served.links["one"]["raters"]):
        assert served.client.get(link.replace("/one/", "/two/")).status_code == 401


def test_who_may_look_at_one_campaign_looks_at_that_one_and_changes_nothing(write, serve, tmp_path):
    for name in ("one", "two"):
        write(name)
    served = serve(tmp_path)
    link = served.links["one"]["viewer"]
    assert link.startswith(f"{ORIGIN}/one/")
    assert served.client.get(link.replace("/one/", "/two/")).status_code == 401
    page = served.follow(link)
    assert "Campaign one" in page.text
    assert served.client.get("/two/admin").status_code == 401
    word = re.search(r'csrf-token" content="([^"]+)"', page.text)
    headers = {"X-CSRF-Token": word[1] if word else ""}
    stopped = {"state": "stopped"}
    assert served.client.post("/one/admin/api/state", json=stopped, headers=headers).is_error
    # the owner of the other hands out links of that one, and tells its raters something
    page = served.follow(served.links["two"]["admin"])
    headers = {"X-CSRF-Token": re.search(r'csrf-token" content="([^"]+)"', page.text)[1]}
    shown = served.client.get("/two/admin/api/viewer").json()["link"]
    assert shown.startswith(f"{ORIGIN}/two/admin/")
    asked = {"names": ["Ann"]}
    made = served.client.post("/two/admin/api/invitations", json=asked, headers=headers)
    assert made.json()["links"][0].startswith(f"{ORIGIN}/two/join?token=")
    told = served.client.post("/two/admin/api/message", json={"text": "Hi two."}, headers=headers)
    assert told.status_code == 200
    assert "Hi two." in served.follow(served.links["two"]["raters"]).text
    assert "Hi two." not in served.follow(served.links["one"]["raters"]).text


def test_the_webhook_of_a_campaign_tells_of_that_campaign(write, serve, tmp_path):
    with Service().running() as receiver:
        for name in ("one", "two"):
            write(name, f"webhook: '{receiver.address}/{name}'\n")
        served = serve(tmp_path)
        page = served.follow(served.links["two"]["admin"])
        headers = {"X-CSRF-Token": re.search(r'csrf-token" content="([^"]+)"', page.text)[1]}
        served.client.post("/two/admin/api/state", json={"state": "stopped"}, headers=headers)
        for app in served.apps.values():
            served.client.portal.call(app.state.periodic_work.serve_outside)
        told = {path: body for _, path, body in receiver.asked}
    assert list(told) == ["/two"]
    assert (told["/two"]["event"], told["/two"]["title"]) == ("ended", "Campaign two")
    assert told["/two"]["dashboard"] == f"{ORIGIN}/two/admin"


def test_a_campaign_that_cannot_be_opened_keeps_no_other_from_being_served(write, serve, tmp_path):
    write("broken", "titel: B\n")
    write("good")
    write("lost", "database: nowhere/a.sqlite\n")
    served = serve(tmp_path)
    assert "titel" in served.trouble["broken"]
    assert served.trouble["lost"]
    assert served.judge("good")[1]["accepted"] is True
    closed = served.client.get("/broken/join/open?token=x")
    assert (closed.status_code, closed.headers["retry-after"]) == (503, "60")
    ready = served.client.get("/readyz")
    assert (ready.status_code, ready.json()["campaigns"], ready.json()["ready_campaigns"]) == (
        200,
        3,
        1,
    )


def test_a_database_that_fails_later_is_the_trouble_of_its_campaign_alone(write, serve, tmp_path):
    for name in ("one", "two"):
        write(name)
    served = serve(tmp_path)
    served.apps["one"].state.site.store.close()
    link = served.links["one"]["raters"]
    assert served.client.get(link).status_code >= 500
    assert served.judge("two")[1]["accepted"] is True
    assert served.client.get("/healthz").text == "ok\n"


def test_two_campaigns_do_not_share_a_database(write, serve):
    one, two = write("a"), write("a", file="b.yaml")
    served = serve(one, two)
    assert "database" in served.trouble["b"]
    assert "is that of a, too" in served.trouble["b"]


def test_if_none_can_be_opened_the_first_is_named(write, serve, tmp_path):
    for name in ("one", "two"):
        write(name, "titel: B\n")
    with pytest.raises(InvalidArgumentError, match=r"none of the 2 campaigns can be served.*titel"):
        serve(tmp_path)


def test_below_the_path_of_a_public_url_each_has_its_own(write, serve, tmp_path):
    for name in ("one", "two"):
        write(name, "public_url: https://example.org/annotate\n")
    served = serve(tmp_path)
    link = served.links["one"]["raters"]
    assert link.startswith("https://example.org/annotate/one/join/open?token=")
    # whether the proxy takes the path off is up to it
    for path in ("/annotate/one/join/open", "/one/join/open"):
        answer = served.client.get(f"{path}?{link.partition('?')[2]}")
        assert answer.headers["location"] == "/annotate/one/work"


@pytest.mark.parametrize("url", ["", "public_url: https://example.org/annotate\n"])
def test_a_campaign_may_be_called_like_a_part_of_its_own_addresses(write, serve, tmp_path, url):
    for name in ("media", "work", "admin"):
        write(name, url)
    served = serve(tmp_path)
    for name in ("media", "work", "admin"):
        # refused without a login, and not unknown
        for path in ("/media/0123456789abcdef0123456789abcdef.png", "/admin/answers"):
            assert served.client.get(f"/{name}{path}").status_code == 401
        query = served.links[name]["raters"].partition("?")[2]
        answer = served.client.get(f"/{name}/join/open?{query}")
        assert answer.headers["location"].endswith(f"/{name}/work")


def test_what_belongs_to_no_campaign_says_little(write, serve, tmp_path):
    for name in ("one", "two"):
        write(name)
    served = serve(tmp_path)
    assert "open the link that you were given" in served.client.get("/").text
    nothing = served.client.get("/three/join")
    assert nothing.status_code == 404
    assert "one" not in nothing.text.replace("Open", "")
    assert "default-src 'none'" in nothing.headers["content-security-policy"]
    assert served.client.get("/oneself").status_code == 404


def test_one_file_or_a_folder_with_one_is_served_without_a_name(write, tmp_path):
    path = write("alone")
    for given in (path, tmp_path / "alone"):
        assert [(one.path, one.name) for one in campaign_files([given])] == [(path, "")]


def test_names_come_from_files_or_from_the_folders_of_campaign_yaml(write, tmp_path):
    path, other = write("a"), write("b", file="second.yaml")
    named = [(path, "a"), (other, "second")]
    assert [(one.path, one.name) for one in campaign_files([tmp_path])] == named[:1]
    assert [(one.path, one.name) for one in campaign_files([path, other])] == named


@pytest.mark.parametrize(
    ("name", "says"),
    [("a b", "cannot be served under the name 'a b'"), ("healthz", "rename it")],
)
def test_a_name_that_cannot_stand_in_an_address_is_refused(write, tmp_path, name, says):
    write(name)
    with pytest.raises(InvalidArgumentError, match=says):
        campaign_files([tmp_path])


def test_two_of_the_same_name_and_folders_without_campaigns_are_refused(write, tmp_path):
    path = write("a")
    with pytest.raises(InvalidArgumentError, match="would both be served under 'a'"):
        campaign_files([path, tmp_path / "x" / "a.yaml"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidArgumentError, match="empty holds no campaign"):
        campaign_files([path, tmp_path / "empty"])


def test_campaigns_take_turns_in_what_takes_a_core(write, serve, tmp_path):
    for name in ("one", "two"):
        write(name)
    served = serve(tmp_path)
    one, two = (app.state.periodic_work.turn for app in served.apps.values())
    assert one is two
