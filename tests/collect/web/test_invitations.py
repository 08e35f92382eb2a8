"""Invitations: by name, listed, and withdrawn."""

import pytest


def invite(admin, **asked):
    answer = admin.send("/admin/api/invitations", asked)
    assert answer.status_code == 200, answer.text
    return dict(zip(answer.json()["names"], answer.json()["links"], strict=True))


def listed(admin):
    return {one["name"]: one for one in admin.get("/admin/api/invitations").json()["invitations"]}


def test_people_are_invited_by_name_and_listed_with_their_work(server):
    admin = server.admin()
    links = invite(admin, names=["Ann Example", "bob"])
    ann = server.visitor()
    ann.follow(links["Ann Example"])
    ann.judge()
    found = listed(admin)
    assert (found["Ann Example"]["rater"], found["Ann Example"]["judgments"]) == (1, 1)
    assert (found["bob"]["rater"], found["bob"]["judgments"]) == (None, 0)
    # the link of the list is the same person's
    again = server.visitor()
    again.follow(found["Ann Example"]["link"])
    again.judge()
    assert listed(admin)["Ann Example"]["judgments"] == 2


def test_links_without_a_name_are_listed_too(server):
    admin = server.admin()
    assert {"first", *invite(admin, count=3)} == set(listed(admin))
    assert len(listed(admin)) == 4


def test_the_link_that_was_printed_is_listed_and_can_be_withdrawn(server):
    admin = server.admin()
    assert (listed(admin)["first"]["rater"], listed(admin)["first"]["judgments"]) == (None, 0)
    rater = server.visitor()
    rater.follow(server.site.rater_link())
    rater.judge()
    # as is whoever came by a link that was made elsewhere
    server.rater("ann")
    found = listed(admin)
    assert set(found) == {"first", "ann"}
    assert (found["first"]["rater"], found["first"]["judgments"]) == (1, 1)
    admin.send("/admin/api/invitations/revoke", {"name": "first"})
    assert rater.next()["reason"] == "revoked"
    assert (listed(admin)["first"]["rater"], listed(admin)["first"]["judgments"]) == (1, 1)
    assert listed(admin)["first"]["revoked"] is not None


def test_a_campaign_of_a_panel_lists_only_who_was_invited(serve):
    server = serve("panel: {kind: open}\n")
    server.visitor().follow(server.site.rater_link())
    assert listed(server.admin()) == {}
    server.rater("colleague")
    assert set(listed(server.admin())) == {"colleague"}


def test_a_withdrawn_invitation_opens_nothing_and_gives_no_more_work(server):
    admin = server.admin()
    link = invite(admin, names=["ann"])["ann"]
    ann = server.visitor()
    ann.follow(link)
    held = ann.next()["assignment"]["id"]
    found = admin.send("/admin/api/invitations/revoke", {"name": "ann"}).json()["invitations"]
    assert {one["name"]: one for one in found}["ann"]["revoked"] is not None
    assert server.visitor().get(link.removeprefix(server.origin)).status_code == 403
    # the work in hand is not lost
    assert ann.submit(held).status_code == 200
    end = ann.next()
    assert end["reason"] == "revoked"
    assert "withdrawn" in end["message"]


def test_an_invitation_can_be_given_again(server):
    admin = server.admin()
    link = invite(admin, names=["ann"])["ann"]
    admin.send("/admin/api/invitations/revoke", {"name": "ann"})
    invite(admin, names=["ann"])
    assert server.visitor().get(link.removeprefix(server.origin)).status_code == 303


def test_a_link_that_was_made_without_a_record_can_be_withdrawn(server):
    link = server.site.invitation("first")
    admin = server.admin()
    assert server.visitor().get(link.removeprefix(server.origin)).status_code == 303
    admin.send("/admin/api/invitations/revoke", {"name": "first"})
    assert server.visitor().get(link.removeprefix(server.origin)).status_code == 403


@pytest.mark.parametrize("name", ["", " ann", "a" * 101, "a\0b"])
def test_a_name_must_be_a_short_text(server, name):
    answer = server.admin().send("/admin/api/invitations", {"names": [name]})
    assert answer.status_code == 422


def test_raters_do_not_see_invitations(server):
    assert server.rater().get("/admin/api/invitations").status_code == 401
