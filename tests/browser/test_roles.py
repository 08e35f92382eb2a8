"""Those who only look, and what raters are told, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.usefixtures("observer_here")


def test_a_message_reaches_raters_who_are_at_work_and_leaves_again(
    serve, write_campaign, open_page
):
    served = serve(write_campaign())
    rater = open_page(served.invitation())
    notice = rater.locator("#notice")
    expect(notice).to_be_hidden()
    admin = open_page(served.admin_link)
    for text, shown in (("We are <b>back</b> at noon.", True), ("", False)):
        admin.keyboard.press("m")
        admin.get_by_label("Message", exact=True).fill(text)
        # the announcement stays from one time to the next, so the answer is what says that it is saved
        with admin.expect_response(lambda answer: answer.request.method == "POST"):
            admin.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(admin.locator("#announce")).to_have_text("The message is saved.")
        # the page looks when somebody comes back to it, not only every minute
        rater.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(notice).to_be_visible(visible=shown)
        expect(notice).to_have_text(text)


def test_the_dashboard_gives_out_a_link_by_which_nothing_can_be_changed(
    serve, write_campaign, open_page, accessible
):
    served = serve(write_campaign())
    open_page(served.invitation())
    admin = open_page(served.admin_link)
    admin.get_by_role("button", name="Link for looking").click()
    dialog = admin.get_by_role("dialog")
    link = dialog.get_by_label("The link").input_value()
    accessible(admin)
    dialog.get_by_role("button", name="Done").click()
    page = open_page(link)
    expect(page.get_by_text("Looking only")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^Rater 1"))).to_be_visible()
    expect(page.locator("[data-action]")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("Decide"))).to_have_count(0)
    accessible(page)
    page.keyboard.press("p")
    expect(page.get_by_role("dialog")).to_have_count(0)
