import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.collect.web.tokens import InvalidTokenError, Keys

PURPOSES = ("invitation", "panel", "rater", "admin-link", "admin")
KEYS = Keys("a secret", "campaign one")


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_token_says_what_was_signed(purpose):
    text = KEYS.sign(purpose, "session", "rater", expires=2_000)
    token = KEYS.read(purpose, text, now=1_999)
    assert token.subject == ("session", "rater")
    assert token.expires == 2_000


@pytest.mark.parametrize("made_for", PURPOSES)
@pytest.mark.parametrize("used_for", PURPOSES)
def test_a_token_is_good_for_its_own_purpose_only(made_for, used_for):
    text = KEYS.sign(made_for, "x", expires=2_000)
    if made_for == used_for:
        assert KEYS.read(used_for, text, now=0).subject == ("x",)
        return
    with pytest.raises(InvalidTokenError, match="not valid"):
        KEYS.read(used_for, text, now=0)


def test_a_token_is_over_at_its_time_even_if_it_was_read_before():
    text = KEYS.sign("rater", "s", "r", expires=2_000)
    KEYS.read("rater", text, now=1_999)
    with pytest.raises(InvalidTokenError, match="over: ask for a new one"):
        KEYS.read("rater", text, now=2_000)


@pytest.mark.parametrize(
    "others", [Keys("a secret", "campaign two"), Keys("another secret", "campaign one")]
)
def test_a_token_of_another_campaign_or_secret_says_nothing(others):
    with pytest.raises(InvalidTokenError, match="not valid"):
        KEYS.read("admin", others.sign("admin", "x", expires=2_000), now=0)


@given(st.data())
def test_a_token_with_any_character_changed_is_refused(data):
    text = KEYS.sign("rater", "session", "rater", expires=2_000)
    # the last character holds two bits that stand for nothing
    place = data.draw(st.integers(0, len(text) - 2))
    letter = data.draw(st.characters(codec="ascii"))
    changed = text[:place] + letter + text[place + 1 :]
    if changed == text:
        return
    with pytest.raises(InvalidTokenError):
        KEYS.read("rater", changed, now=0)


@given(st.text())
def test_whatever_is_no_token_is_refused(text):
    with pytest.raises(InvalidTokenError, match="not valid"):
        KEYS.read("invitation", text, now=0)


def test_a_token_too_long_to_be_ours_is_refused_before_it_is_checked():
    text = KEYS.sign("rater", secrets.token_urlsafe(2_000), expires=2_000)
    with pytest.raises(InvalidTokenError, match="not valid"):
        KEYS.read("rater", text, now=0)


def test_the_word_of_a_page_is_bound_to_its_session_and_campaign():
    word = KEYS.csrf("session one")
    assert KEYS.csrf_holds("session one", word)
    assert not KEYS.csrf_holds("session two", word)
    assert not KEYS.csrf_holds("session one", None)
    assert not KEYS.csrf_holds("session one", "")
    assert not KEYS.csrf_holds("session one", "ü")
    assert not Keys("a secret", "campaign two").csrf_holds("session one", word)
