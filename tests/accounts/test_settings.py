"""The settings: each is kept, and each does what it says."""

from __future__ import annotations

import re
from zoneinfo import available_timezones

import pytest
from allauth.account.models import EmailAddress
from django.conf import LazySettings
from django.http import HttpResponse

from accounts.models import User
from tests import cast

pytestmark = pytest.mark.django_db

ADDRESS = "/account/settings/"

KEPT = {
    "plays_forced_cards": ("", False),
    "after_move": ("list", "list"),
    "confirms_plays": ("", False),
    "deck": ("four", "four"),
    "time_zone": ("Africa/Cairo", "Africa/Cairo"),
    "may_challenge": ("friends", "friends"),
    "may_see": ("nobody", "nobody"),
    "quiet": ("on", True),
}


def save(player: User, **changed: str) -> HttpResponse:
    form = cast.settings_of(player.name) | changed
    return cast.posted(cast.browser_of(player), ADDRESS, {k: v for k, v in form.items() if v})


def page(player: User) -> str:
    return cast.text_of(cast.get(cast.browser_of(player), ADDRESS))


@pytest.mark.parametrize("setting", KEPT)
def test_a_setting_is_kept_and_shown_and_changes_nothing_else(setting: str) -> None:
    mona = cast.person("Mona")
    before = dict(User.objects.filter(pk=mona.pk).values().get())
    typed, kept = KEPT[setting]
    form = cast.settings_of("Mona") | {setting: typed}
    if not typed:
        del form[setting]
    assert cast.posted(cast.browser_of(mona), ADDRESS, form).status_code == 302
    after = dict(User.objects.filter(pk=mona.pk).values().get())
    assert after.pop(setting) == kept
    before.pop(setting)
    assert {k: v for k, v in after.items() if k != "last_login"} == {
        k: v for k, v in before.items() if k != "last_login"
    }
    text = page(mona)
    if isinstance(kept, str):
        assert f'<option value="{kept}" selected>' in text
    else:
        (box,) = re.findall(rf'<input type="checkbox" name="{setting}"[^>]*>', text)
        assert ("checked" in box) is kept


@pytest.mark.parametrize(
    "setting", ["after_move", "deck", "time_zone", "may_challenge", "may_see", "language"]
)
@pytest.mark.parametrize("value", ["", "x", "<b>", "two\0", "x" * 5000, "../etc/passwd", "Factory"])
def test_a_value_that_there_is_not_is_refused_with_a_sentence(
    setting: str, value: str, settings: LazySettings
) -> None:
    settings.LANGUAGES = [("en", "English"), ("ar", "Arabic")]
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    stored = cast.everything_stored()
    form = cast.settings_of("Salma") | {setting: value}
    response = cast.posted(browser, ADDRESS, form)
    if value == "" and setting in ("time_zone", "language"):
        assert response.status_code == 302
        return
    assert response.status_code == 422
    text = cast.text_of(response)
    assert re.search(r'role="alert">.*?<p>[A-Z].*?\.</p>', text)
    assert 'value="Salma"' in text  # what was typed stays
    assert "Others see you as <bdi>Mona</bdi>." in text
    assert cast.everything_stored() == stored


def test_a_setting_that_is_refused_does_not_count_for_the_page_that_says_so() -> None:
    mona = cast.person("Mona")
    text = cast.text_of(save(mona, name="<b>", deck="four"))
    assert 'class="four"' not in text


def test_what_changed_elsewhere_meanwhile_is_not_overwritten() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    browser.get(ADDRESS)
    User.objects.filter(pk=mona.pk).update(email="mona@example.org")
    save(mona, deck="four")
    assert User.objects.get(pk=mona.pk).email == "mona@example.org"


def test_every_place_on_earth_can_be_chosen_and_nothing_that_is_none() -> None:
    offered = re.findall(r'<option value="([^"]*)"', page(cast.person("Mona")))
    for zone in ("Africa/Cairo", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "UTC"):
        assert zone in offered
    assert not {"posixrules", "Factory", "localtime", "EST5EDT"} & set(offered)
    places = {zone for zone in available_timezones() if zone.startswith(("Africa/", "Europe/"))}
    assert places <= set(offered)


def test_times_are_shown_in_the_time_zone_of_who_asks() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    cast.play_until_ply(game, 1)
    (at,) = game.plays.values_list("at", flat=True)
    save(mona, time_zone="Asia/Kolkata")  # half an hour off: never the same minute as UTC
    shown = {
        player: re.findall(
            r'<time datetime="(\d\d:\d\d)"',
            cast.text_of(cast.look(cast.browser_of(player), "table", game)),
        )[0]
        for player in (mona, karim)
    }
    assert shown[karim] == f"{at:%H:%M}"
    assert int(shown[mona][-2:]) == (at.minute + 30) % 60


def test_the_next_player_of_a_worker_gets_times_of_their_own() -> None:
    mona = cast.person("Mona")
    save(mona, time_zone="Asia/Kolkata")
    page(mona)
    from django.utils import timezone

    assert timezone.get_current_timezone_name() == "UTC"


def test_a_language_can_be_chosen_as_soon_as_there_are_two(settings: LazySettings) -> None:
    mona = cast.person("Mona")
    assert 'name="language"' not in page(mona)
    settings.LANGUAGES = [("en", "English"), ("ar", "Arabic")]
    text = page(mona)
    assert "العربيّة" in text
    assert '<html lang="en" dir="ltr">' in text
    assert save(mona, language="ar").status_code == 302
    browser = cast.browser_of(mona)
    response = browser.get(ADDRESS, headers={"accept-language": "en"})
    assert '<html lang="ar" dir="rtl">' in response.content.decode()
    assert response.headers["Content-Language"] == "ar"
    # Nobody else's.
    assert '<html lang="en" dir="ltr">' in page(cast.person("Karim"))


def test_a_language_that_there_is_no_more_is_as_the_browser_says() -> None:
    mona = cast.person("Mona")
    User.objects.filter(pk=mona.pk).update(language="xx", time_zone="Mars/Base")
    assert '<html lang="en" dir="ltr">' in page(mona)


def test_four_colours_are_a_class_of_the_page() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    for deck, shown in (("two", False), ("four", True)):
        save(mona, deck=deck)
        text = cast.text_of(cast.look(cast.browser_of(mona), "table", game))
        assert ('<body class="four">' in text) is shown


def test_who_wants_no_questions_plays_a_card_by_choosing_it() -> None:
    mona = cast.person("Mona")
    game = cast.sit_down_with_the_computer(mona)
    browser = cast.browser_of(mona)
    asks = cast.text_of(cast.look(browser, "table", game))
    assert len(re.findall(r'class="pick hidden" type="radio"', asks)) == 4
    assert "at-once" not in asks
    save(mona, confirms_plays="")
    text = cast.text_of(cast.look(browser, "table", game))
    hand = re.findall(
        r'class="pick hidden" type="(\w+)" name="card" (required|form="at-once")', text
    )
    assert ("submit", 'form="at-once"') in hand
    for kind, of in hand:
        assert (kind, of) in {("submit", 'form="at-once"'), ("radio", "required")}
    # A card that can be played in several ways still asks which.
    assert len([kind for kind, _of in hand if kind == "radio"]) == text.count('class="options"')
    form = re.search(r'<form id="at-once".*?</form>', text, re.DOTALL)
    assert form is not None
    card = re.findall(r'type="submit" name="card" form="at-once" id="card-\d" value="(\w+)"', text)[
        0
    ]
    fields = dict(re.findall(r'name="(version|move_id)" value="([^"]*)"', form[0]))
    response = cast.post(browser, "play", game, {**fields, "card": card})
    assert response.status_code == 302
    assert cast.as_it_is(game).plies > game.plies


def test_a_member_without_a_confirmed_address_is_told_that_no_mail_comes() -> None:
    mona = cast.person("Mona")
    assert "You get no mail from us" in page(mona)
    address = EmailAddress.objects.create(user=mona, email="m@example.org", verified=False)
    assert "You get no mail from us" in page(mona)
    EmailAddress.objects.filter(pk=address.pk).update(verified=True)
    assert "You get no mail from us" not in page(mona)


def test_a_guest_is_shown_how_to_keep_the_games() -> None:
    guest = cast.person("Guest 1", kind=User.Kind.GUEST)
    text = page(guest)
    assert "Make an account to keep your games" in text
    assert "You get no mail from us" not in text
    assert "Make an account" not in page(cast.person("Mona"))


def test_every_link_of_the_page_leads_somewhere() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    links = set(re.findall(r'<a [^>]*href="(/[^"#]*)"', page(mona)))
    assert len(links) > 8
    for link in links:
        assert browser.get(link).status_code in (200, 302), link
