from steelyard.collect.web.cookies import Cookie


def test_a_cookie_is_kept_from_scripts_and_other_sites():
    assert Cookie("sy_admin", "/admin").header("v", seconds=9) == (
        "sy_admin=v; Path=/admin; Max-Age=9; HttpOnly; SameSite=Lax"
    )


def test_a_cookie_over_https_stays_on_https():
    assert Cookie("sy_rater", "/", secure=True).header("v", seconds=9).endswith("; Secure")


def test_a_cookie_in_a_frame_is_secure_and_kept_apart_for_each_site():
    header = Cookie("sy_rater", "/", same_site="none", secure=True).header("v", seconds=9)
    assert header.endswith("; SameSite=None; Secure; Partitioned")
