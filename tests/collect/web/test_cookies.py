from types import SimpleNamespace

import pytest
from starlette.responses import Response

from steelyard.collect.web.guards import ADMIN_COOKIE, RATER_COOKIE, set_cookie


@pytest.mark.parametrize(
    ("kind", "origin", "framed_by", "expected"),
    [
        (
            ADMIN_COOKIE,
            "http://here",
            (),
            "sy_admin=v; Path=/x/admin; Max-Age=9; HttpOnly; SameSite=Lax",
        ),
        (
            RATER_COOKIE,
            "http://here",
            ("https://panel",),
            "sy_rater=v; Path=/x/; Max-Age=9; HttpOnly; SameSite=Lax",
        ),
        (
            RATER_COOKIE,
            "https://here",
            (),
            "sy_rater=v; Path=/x/; Max-Age=9; HttpOnly; SameSite=Lax; Secure",
        ),
        (
            RATER_COOKIE,
            "https://here",
            ("https://panel",),
            "sy_rater=v; Path=/x/; Max-Age=9; HttpOnly; SameSite=None; Secure; Partitioned",
        ),
    ],
)
def test_cookies_are_kept_from_scripts_and_but_for_a_frame_from_other_sites(
    kind, origin, framed_by, expected
):
    panel = SimpleNamespace(framed_by=framed_by)
    site = SimpleNamespace(origin=origin, base="/x", panel=panel, cookie_name=lambda kind: kind)
    answer = Response()
    set_cookie(answer, site, kind, "v", seconds=9)
    assert answer.headers["set-cookie"] == expected
