"""The name that others see: chosen freely, as long as it looks like what it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from urllib.parse import urlencode

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.forms import SettingsForm
from accounts.guests import create_guest
from accounts.models import RetiredName, User
from accounts.names import clean_name, made_up_name, name_digest, skeleton_of, suggest
from tests import cast

type InThreads = Callable[[list[Callable[[], object]]], list[object]]

ADDRESS = "/account/settings/"

GOOD = {
    "Karim": "Karim",
    "Salma_99": "Salma_99",
    "O'Brien-Smith Jr.": "O'Brien-Smith Jr.",
    "J. R.": "J. R.",
    ".Mona.": ".Mona.",
    "Mona...": "Mona...",
    "  Tarek   the\u00a0Great ": "Tarek the Great",
    "منى": "منى",
    "منى ١٢": "منى ١٢",
    "مُحَمَّد": "مُحَمَّد",
    "Ａｌｉ": "Ali",
    "Zoe\u0308": "Zo\u00eb",
    "नमस्ते": "नमस्ते",
    "日本語": "日本語",
    "7": "7",
    "x" * 24: "x" * 24,
    "Nguyễn Thị": "Nguyễn Thị",
}

HOSTILE = {
    "nothing": "",
    "spaces": "   ",
    "one too long": "x" * 25,
    "much too long": "x" * 5000,
    "longer when composed": "ﷺ" * 2,
    "a right-to-left override": "Mona\u202egnol",
    "an isolate": "\u2067Mona",
    "a mark of direction": "Mona\u200f",
    "a zero-width space": "Mo\u200bna",
    "a zero-width joiner": "Mo\u200dna",
    "a word joiner": "Mona\u2060",
    "a byte order mark": "\ufeffMona",
    "a soft hyphen": "Mo\u00adna",
    "the Hangul filler": "\u3164",
    "a Hangul filler in a name": "Mona\u3164",
    "the half-width filler": "\uffa0Mona",
    "the choseong filler": "Mona\u115f",
    "the jungseong filler": "Mona\u1160",
    "the grapheme joiner": "Mona\u034f",
    "a variation selector": "Mona\ufe0f",
    "a supplementary variation selector": "Mona\U000e0100",
    "a Mongolian selector": "Mona\u180b",
    "a Khmer vowel that is not seen": "Mona\u17b4",
    "a tag": "Mona\U000e0041",
    "marks alone": "\u0301\u0302",
    "a mark to begin with": "\u0301Mona",
    "a heap of marks": "M" + "\u0301\u0316" * 8,
    "signs alone": "._-'",
    "a NUL": "Mo\0na",
    "a line break": "Mo\nna",
    "a tab": "Mo\tna",
    "a control character": "Mo\x1bna",
    "a line separator": "Mo\u2028na",
    "markup": "<b>Mona</b>",
    "an address": "mona@example.org",
    "a link": "https://example.org",
    "the name of a site": "free-coins.example",
    "a short link": "bit.ly",
    "a site by its first letters": "www.evil.ru",
    "a site at the end": "Mona of bit.ly",
    "a site in wide letters": "ｂｉｔ．ｌｙ",
    "a site in Arabic": "موقع.مصر",
    "the number of a machine": "192.0.2.1",
    "a picture": "Mona 🂡",
    "a private character": "\ue000",
    "an unassigned character": "\u0378",
    "a lone surrogate": "\ud800",
    "the house": "Basra",
    "the house in capitals": "BASRA",
    "the house with a second word": "Basra Support",
    "the house's people": "Site staff",
    "the house's people in capitals": "Site_STAFF",
    "another site": "Facebook",
    "another site with a number": "Google 2",
    "the easy computer player's brother": "Simsim 2",
    "somebody who has left": "Former player",
    "somebody who has left, in one word": "former-player",
    "somebody who has left, in Arabic": "لاعب سابق",
    "nobody": "null",
    "the house in wide letters": "Ｂａｓｒａ",
    "the computer": "the  Computer",
    "the easy computer player": "SIM-SIM",
    "the medium one with a full stop": "Amm Sayed.",
    "the hard one with another letter that looks the same": "EI Usta",
    "the easy one in Cyrillic letters": "\u0405\u0406\u041c\u0405\u0406\u041c",
    "the easy one in Arabic": "سمسم",
    "the medium one in Arabic": "عم سيد",
    "the medium one with a Persian letter": "عم سید",
    "the hard one without its hamza": "الاسطى",
    "an administrator": "Admin",
    "the computer with a full stop": "The computer.",
    "the computer with a hyphen": "The-computer",
    "an administrator with a Turkish capital": "ADMİN",
    "an administrator with a dotless letter": "Admın",
    "a Cyrillic letter among Latin ones": "Тarek",
    "stretching alone": "ـــ",
    "a filler of another script": "Mona\U00016fe4",
}


@pytest.mark.parametrize("typed", GOOD)
def test_a_good_name_is_taken_as_it_is_meant(typed: str) -> None:
    assert clean_name(typed) == GOOD[typed]


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_name_that_would_deceive_or_cannot_be_read_is_refused_with_a_sentence(kind: str) -> None:
    with pytest.raises(ValidationError) as refused:
        clean_name(HOSTILE[kind])
    (sentence,) = refused.value.messages
    assert re.fullmatch(r"[A-Z].*\.", sentence)


def test_made_up_names_are_names_that_anybody_could_choose() -> None:
    for _name in range(200):
        name = made_up_name()
        assert clean_name(name) == name


def page(browser: Client) -> str:
    return browser.get(ADDRESS).content.decode()


def form_of(name: str, **changed: str) -> dict[str, str]:
    """What the page posts for a name."""
    return cast.settings_of(name) | changed


def shown_in_the_header(text: str) -> str:
    found = re.search(r'class="me-link".*?<bdi>(.*?)</bdi>', text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.django_db
def test_a_guest_can_choose_a_name() -> None:
    guest = cast.person("Golden Ibis 417", kind=User.Kind.GUEST)
    browser = cast.browser_of(guest)
    assert "Golden Ibis 417" in page(browser)
    response = browser.post(ADDRESS, form_of(" Mona "))
    assert response.status_code == 302
    assert User.objects.get(pk=guest.pk).name == "Mona"
    assert shown_in_the_header(page(browser)) == "Mona"


@pytest.mark.django_db
def test_the_same_name_in_other_case_is_mine_to_take() -> None:
    mona = cast.person("Mona")
    for name in ("Mona", "MONA"):
        assert cast.browser_of(mona).post(ADDRESS, form_of(name)).status_code == 302
        assert User.objects.get(pk=mona.pk).name == name


@pytest.mark.django_db
@pytest.mark.parametrize("taken", ["Karim", "karim", " KARIM ", "Ｋarim", "сергей", "Straße"])
def test_a_name_that_somebody_has_is_refused(taken: str) -> None:
    mona = cast.person("Mona")
    for name in ("Karim", "Сергей", "STRASSE"):
        cast.person(name)
    response = cast.posted(cast.browser_of(mona), ADDRESS, form_of(taken))
    assert response.status_code == 422
    assert "Somebody has this name already." in cast.text_of(response)
    assert User.objects.get(pk=mona.pk).name == "Mona"


LOOK_ALIKES = {
    "Karim": ["KARIM", "K.a-r_i'm", "K a r i m", "Karirn", "Karìm", "Кагіm".replace("m", "м")],
    "Ali 10": ["AIi IO", "Ａｌｉ １０", "al1 lO"],
    "Сара": ["Capa", "capa", "ϹАРА"],
    "محمد": ["مُحَمَّد", "م ح م د"],
    "أحمد": ["احمد"],
    "علي": ["على", "علی"],
    "Nina": ["ΝΙΝΑ"],
    "Bjorn": ["Bjørn", "Bjom"],
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_name_that_looks_like_somebodys_is_refused(name: str) -> None:
    cast.person(name)
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    for look_alike in LOOK_ALIKES[name]:
        response = cast.posted(browser, ADDRESS, form_of(look_alike))
        assert response.status_code == 422, look_alike
        assert User.objects.get(pk=mona.pk).name == "Mona", look_alike


DIFFERENT = (
    ("Mona", "Mena"), ("Nora", "Vora"), ("Hana", "Nana"), ("نور", "نورا"), ("が", "か"),
    ("नमि", "नम"), ("Golden Ibis 417", "Golden Ibis 471"), ("Анна", "Инна"),
)  # fmt: skip


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_names_that_a_reader_tells_apart_are_two(one: str, other: str) -> None:
    assert skeleton_of(one) != skeleton_of(other)


@pytest.mark.django_db
def test_nobody_takes_the_name_of_an_account_that_was_deleted_lately() -> None:
    mona = cast.person("Mona")
    now = timezone.now()
    RetiredName.objects.create(digest=name_digest("Karim"), until=now + timedelta(days=1))
    RetiredName.objects.create(digest=name_digest("Salma"), until=now - timedelta(days=1))
    browser = cast.browser_of(mona)
    assert browser.post(ADDRESS, form_of("KARIM")).status_code == 422
    assert browser.post(ADDRESS, form_of("Salma")).status_code == 302


@pytest.mark.django_db
def test_a_person_with_the_stored_name_of_a_computer_player_keeps_nobody_from_playing() -> None:
    cast.person("Simsim computer")
    assert cast.the_computer().shown_name == "Simsim"


@pytest.mark.django_db
def test_a_name_from_elsewhere_is_made_clean_and_free() -> None:
    cast.person("Mona Ahmed")
    assert suggest("Karim <b>") == "Karim b"
    assert suggest("Mona Ahmed") == "Mona Ahmed 2"
    assert suggest("Mona\u200b Áhmed") == "Mona Áhmed 2"
    long = suggest("Abdulrahman Muhammad Al-Masri")
    assert long == clean_name(long) == "Abdulrahman Muhammad Al-"
    for nothing in ("", "🂡🂡", "admin", "Тarek", "\ud800"):
        made_up = suggest(nothing)
        assert clean_name(made_up) == made_up


@pytest.mark.django_db(transaction=True)
def test_of_fifty_who_want_a_name_and_its_look_alikes_at_once_one_gets_it(
    in_threads: InThreads,
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("a writer at a time")
    names = ["Karim", "KARIM", "Кагіm".replace("m", "м"), "K-a-r-i-m", "Karirn"]
    players = [cast.person(f"Player {number}x") for number in range(50)]
    browsers = [cast.browser_of(player) for player in players]

    def claim(browser: Client, name: str) -> int:
        return browser.post(ADDRESS, form_of(name)).status_code

    claims: list[Callable[[], object]] = [
        partial(claim, browser, names[number % len(names)])
        for number, browser in enumerate(browsers)
    ]
    answers = in_threads(claims)
    assert Counter(answers) == {302: 1, 422: 49}
    assert User.objects.filter(skeleton=skeleton_of("Karim")).count() == 1


@pytest.mark.django_db
def test_a_refused_name_is_said_beside_the_form_and_the_old_one_stays_everywhere() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona, tells_errors=False)
    for kind, name in HOSTILE.items():
        chosen = {key: value for key, value in form_of("").items() if key != "name"}
        body = (
            urlencode(chosen).encode()
            + b"&name="
            + b"".join(b"%%%02x" % byte for byte in name.encode("utf-8", "surrogatepass"))
        )
        response = browser.post(ADDRESS, body, content_type="application/x-www-form-urlencoded")
        text = response.content.decode()
        assert response.status_code == 422, kind
        assert shown_in_the_header(text) == "Mona", kind
        assert "Others see you as <bdi>Mona</bdi>." in text, kind
        assert re.search(r'role="alert"><div id="id_name_error"><p>[A-Z].*\.</p>', text), kind
        assert User.objects.get(pk=mona.pk).name == "Mona", kind


@pytest.mark.django_db
def test_a_name_taken_between_the_check_and_the_save_is_refused_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuses(_form: SettingsForm) -> User:
        raise IntegrityError

    mona = cast.person("Mona")
    monkeypatch.setattr(SettingsForm, "save", refuses)
    response = cast.posted(cast.browser_of(mona), ADDRESS, form_of("karim"))
    assert response.status_code == 422
    assert "Somebody has this name already." in cast.text_of(response)


@pytest.mark.django_db
def test_the_database_itself_keeps_names_apart() -> None:
    cast.person("Karim")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create(username="other", name="KARIM")


@pytest.mark.django_db
def test_a_form_without_a_name_changes_nothing() -> None:
    mona = cast.person("Mona")
    stored = cast.everything_stored()
    assert cast.browser_of(mona).post(ADDRESS, {}).status_code == 422
    assert (
        cast.browser_of(mona).post(ADDRESS, {"username": "x", "is_staff": "1"}).status_code == 422
    )
    assert cast.everything_stored() == stored


@pytest.mark.django_db
def test_nothing_but_the_name_and_the_settings_can_be_changed_by_the_form() -> None:
    mona = cast.person("Mona")
    form = form_of("Salma", username="x", is_staff="1", is_superuser="1", kind="computer")
    cast.browser_of(mona).post(ADDRESS, form)
    after = User.objects.get(pk=mona.pk)
    assert (after.name, after.username, after.kind) == ("Salma", "mona", User.Kind.MEMBER)
    assert not after.is_staff
    assert not after.is_superuser


@pytest.mark.django_db
def test_a_visitor_has_no_name_to_change_and_is_asked_to_sign_in() -> None:
    sign_in = f"/account/login/?next={ADDRESS}"
    assert cast.get(cast.browser_of(), ADDRESS).headers["Location"] == sign_in


@pytest.mark.django_db
def test_a_name_that_is_sent_after_the_cookie_is_gone_is_answered_with_words() -> None:
    response = cast.posted(cast.browser_of(), ADDRESS, {"name": "x"})
    assert response.status_code == 404
    assert "this browser no longer knows you" in cast.text_of(response)


@pytest.mark.django_db
def test_a_guest_is_told_what_the_games_hang_on() -> None:
    guest, member = create_guest(), cast.person("Mona")
    assert "cookie" in cast.text_of(cast.get(cast.browser_of(guest), ADDRESS))
    assert "cookie" not in cast.text_of(cast.get(cast.browser_of(member), ADDRESS))


@pytest.mark.django_db
def test_a_new_name_is_what_the_other_player_sees() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    game = cast.sit_down(mona, karim)
    cast.browser_of(mona).post(ADDRESS, form_of("منى"))
    assert "<bdi>منى</bdi>" in cast.text_of(cast.look(cast.browser_of(karim), "home", None))
    assert "منى" in cast.text_of(cast.look(cast.browser_of(karim), "table", game))


@pytest.mark.django_db
def test_whoever_wants_to_can_play_forced_cards_by_hand() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    by_hand = form_of("Mona")
    del by_hand["plays_forced_cards"]
    for form, by_itself in ((by_hand, False), (form_of("Mona"), True)):
        assert browser.post(ADDRESS, form).status_code == 302
        assert User.objects.get(pk=mona.pk).plays_forced_cards is by_itself


@pytest.mark.django_db
def test_where_a_move_leads_is_chosen_beside_the_name() -> None:
    mona = cast.person("Mona")
    browser = cast.browser_of(mona)
    for chosen in ("next", "list", "stay"):
        assert browser.post(ADDRESS, form_of("Mona", after_move=chosen)).status_code == 302
        assert re.search(rf'<option value="{chosen}" selected>', page(browser))
    stored = cast.everything_stored()
    for strange in ("", "away", "0"):
        response = cast.posted(browser, ADDRESS, form_of("Mona", after_move=strange))
        assert response.status_code == 422
        assert re.search(r'role="alert">.*<p>[A-Z].*\.</p>', cast.text_of(response))
    assert cast.everything_stored() == stored
