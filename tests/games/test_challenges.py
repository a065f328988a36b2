"""Offering a game, and what becomes of the offer."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.guests import create_guest
from accounts.models import User
from games import engine, selectors, services, tasks
from games.models import Challenge, Fingerprint, Game, Seal
from games.services import challenges
from games.services.challenges import MOST_OFFERS_OF_A_REMATCH, MOST_WAITING_OF_A_PAIR
from games.snapshot import terms_of
from tests import cast

if TYPE_CHECKING:
    from tests.conftest import InThreads

pytestmark = pytest.mark.django_db

SHORT_RECORD = (
    "basra-record 1\nrules standard\ntarget one round\nround 1\ndealer B\ncards "
    + engine.format_cards(cast.deal_of(1, rules="standard").cards)
)
TERMS = {"rule_set": "standard", "target": "51", "who": "link"}


def offer_of(browser: Any, **changed: str) -> str:
    """Offer a game and return the address of the challenge."""
    form = TERMS | {"form_key": str(uuid.uuid4())} | changed
    response = cast.posted(browser, reverse("games:new_challenge"), form)
    assert response.status_code == 302, cast.text_of(response)
    return response.headers["Location"]


def accept(browser: Any, challenge: Challenge, words: str = "mint") -> Any:
    return cast.post(browser, "accept", challenge, {"words": words})


def let_time_pass(challenge: Challenge, time: timedelta) -> None:
    Challenge.objects.filter(pk=challenge.pk).update(
        created_at=challenge.created_at - time, expires_at=challenge.expires_at - time
    )


def test_mona_offers_a_game_and_gets_a_link_and_whoever_opens_it_sees_who_what_and_how() -> None:
    mona = cast.browser_of(cast.person("Mona"))
    address = offer_of(mona)
    hers = cast.text_of(cast.get(mona, address))
    assert f"http://testserver{address}" in hers
    visitor = cast.browser_of()
    page = cast.text_of(cast.get(visitor, address))
    challenge = Challenge.objects.get()
    for told in ("Mona", "Standard, to 51", "equal cards are carried", challenge.seal.anchor):
        assert told in page
    assert User.objects.count() == 1  # looking makes nobody a guest
    assert Game.objects.count() == 0


def test_whoever_accepts_is_dealt_in_on_exactly_the_terms_that_were_shown() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    for rules in engine.RULE_SETS:
        for target in engine.TARGETS:
            address = offer_of(cast.browser_of(mona), rule_set=rules, target=str(target or "round"))
            response = cast.posted(cast.browser_of(karim), f"{address}accept/", {"words": "tea"})
            game = Game.objects.latest("created_at")
            assert response.headers["Location"] == reverse("games:table", args=[game.pk])
            assert terms_of(game) == engine.Terms(engine.RULE_SETS[rules], target)
            assert (game.player_a, game.player_b) == (mona, karim)
    call_command("audit")


def test_a_visitor_becomes_a_guest_by_accepting_and_only_then() -> None:
    challenge = cast.offer(cast.person("Mona"))
    visitor = cast.browser_of()
    cast.look(visitor, "challenge", challenge)
    assert User.objects.count() == 1
    response = accept(visitor, challenge)
    assert visitor.get(response.headers["Location"]).status_code == 200
    assert Game.objects.get().player_b.kind == User.Kind.GUEST


def test_nobody_becomes_a_guest_for_a_seat_that_is_taken() -> None:
    challenge = cast.offer(cast.person("Mona"))
    accept(cast.browser_of(cast.person("Karim")), challenge)
    late = accept(cast.browser_of(), challenge)
    assert late.status_code == 409
    assert "Somebody else has taken this seat." in cast.text_of(late)
    assert reverse("games:open_table") in cast.text_of(late)
    assert User.objects.count() == 2


def test_no_deck_and_no_dealer_exist_before_both_seats_are_taken() -> None:
    challenge = cast.offer(cast.person("Mona"))
    stored = " ".join(" ".join(rows) for rows in cast.everything_stored().values())
    assert Game.objects.count() == Fingerprint.objects.count() == 0
    assert cast.tip_of(1).hex() not in stored
    assert engine.format_cards(cast.deal_of(1).deck) not in stored
    assert challenge.seal.anchor in stored


def test_a_challenge_of_ones_own_cannot_be_accepted() -> None:
    mona = cast.browser_of(cast.person("Mona"))
    challenge = cast.offer(User.objects.get())
    response = accept(mona, challenge)
    assert response.status_code == 409
    assert "your own challenge" in cast.text_of(response)
    assert Game.objects.count() == 0
    assert "Accept and deal" not in cast.text_of(cast.look(mona, "challenge", challenge))


def test_back_and_a_confirmed_resubmission_make_no_second_challenge() -> None:
    mona = cast.browser_of(cast.person("Mona"))
    key = str(uuid.uuid4())
    assert offer_of(mona, form_key=key) == offer_of(mona, form_key=key)
    assert Challenge.objects.count() == 1


def test_a_form_key_of_somebody_else_makes_a_challenge_of_ones_own() -> None:
    mona, karim = cast.browser_of(cast.person("Mona")), cast.browser_of(cast.person("Karim"))
    key = str(uuid.uuid4())
    assert offer_of(mona, form_key=key) != offer_of(karim, form_key=key)


def test_accepting_twice_with_the_same_words_leads_to_the_same_table() -> None:
    challenge = cast.offer(cast.person("Mona"))
    karim = cast.browser_of(cast.person("Karim"))
    first, again = accept(karim, challenge), accept(karim, challenge)
    assert first.headers["Location"] == again.headers["Location"]
    assert Game.objects.count() == 1


def test_the_maker_and_the_opponent_come_from_the_challenge_to_the_table() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(mona)
    accept(cast.browser_of(karim), challenge)
    table = reverse("games:table", args=[challenge.pk])
    for player in (mona, karim):
        assert (
            cast.look(cast.browser_of(player), "challenge", challenge).headers["Location"] == table
        )
    polled = cast.browser_of(mona).get(
        reverse("games:challenge", args=[challenge.pk]),
        headers=cast.HTMX | {"HX-PTag": "waiting"},
    )
    assert polled.headers["HX-Redirect"] == table


def test_a_maker_who_waits_is_answered_with_304_while_nothing_has_happened() -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(mona)
    url = reverse("games:challenge", args=[challenge.pk])
    asked = cast.browser_of(mona).get(url, headers=cast.HTMX | {"HX-PTag": "waiting"})
    assert asked.status_code == 304


def test_a_listed_challenge_stands_on_the_open_table_and_one_by_link_does_not() -> None:
    mona, karim = cast.browser_of(cast.person("Mona")), cast.browser_of(cast.person("Karim"))
    listed, by_link = offer_of(mona, who="list"), offer_of(mona, who="link")
    page = cast.text_of(cast.look(karim, "open_table"))
    assert listed in page
    assert by_link not in page
    assert listed not in cast.text_of(cast.look(mona, "open_table"))  # one's own is at home
    assert listed in cast.text_of(cast.look(mona, "home"))
    cast.posted(karim, f"{listed}accept/", {"words": "tea"})
    assert listed not in cast.text_of(cast.look(cast.browser_of(), "open_table"))


def test_a_listed_challenge_is_withdrawn_when_its_maker_stays_away_for_long() -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(mona, listed=True)
    long_ago = timezone.now() - selectors.AWAY_FOR_LONG - timedelta(minutes=1)
    User.objects.filter(pk=mona.pk).update(seen_at=long_ago)
    karim = cast.browser_of(cast.person("Karim"))
    assert str(challenge.pk) not in cast.text_of(cast.look(karim, "open_table"))
    assert accept(karim, challenge).status_code == 409  # before any sweep has run
    tasks.close_challenges()
    challenge.refresh_from_db()
    assert challenge.state == Challenge.State.WITHDRAWN


def test_a_challenge_by_link_waits_for_a_maker_who_is_away() -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(mona)
    User.objects.filter(pk=mona.pk).update(seen_at=timezone.now() - timedelta(days=10))
    tasks.close_challenges()
    assert accept(cast.browser_of(cast.person("Karim")), challenge).status_code == 302


def test_a_visit_keeps_a_listed_challenge_alive_and_a_poll_does_not() -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(mona, listed=True)
    long_ago = timezone.now() - timedelta(days=2)
    User.objects.filter(pk=mona.pk).update(seen_at=long_ago)
    browser = cast.browser_of(mona)
    url = reverse("games:challenge", args=[challenge.pk])
    browser.get(url, headers=cast.HTMX | {"HX-PTag": "waiting"})
    assert User.objects.get(pk=mona.pk).seen_at == long_ago
    browser.get(url)
    assert timezone.now() - User.objects.get(pk=mona.pk).seen_at < timedelta(minutes=1)


def test_a_challenge_expires_and_says_so_and_offers_to_play_somebody_else() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(mona)
    let_time_pass(challenge, selectors.CHALLENGE_LASTS)
    late = accept(cast.browser_of(karim), challenge)
    assert late.status_code == 409
    assert "no longer available" in cast.text_of(late)
    assert reverse("games:open_table") in cast.text_of(late)
    assert services.close_challenges() == 1
    challenge.refresh_from_db()
    assert challenge.state == Challenge.State.EXPIRED
    assert "no longer available" in cast.text_of(
        cast.look(cast.browser_of(mona), "challenge", challenge)
    )


def test_a_challenge_that_was_taken_back_cannot_be_accepted() -> None:
    mona, karim = cast.browser_of(cast.person("Mona")), cast.browser_of(cast.person("Karim"))
    challenge = cast.offer(User.objects.get(name="Mona"))
    assert cast.post(mona, "withdraw", challenge, {}).status_code == 302
    assert cast.post(mona, "withdraw", challenge, {}).status_code == 302  # again is harmless
    assert accept(karim, challenge).status_code == 409
    assert Game.objects.count() == 0
    assert str(challenge.pk) not in cast.text_of(cast.look(mona, "home"))


def test_what_was_accepted_cannot_be_taken_back_and_the_table_is_shown() -> None:
    mona, karim = cast.browser_of(cast.person("Mona")), cast.browser_of(cast.person("Karim"))
    challenge = cast.offer(User.objects.get(name="Mona"))
    accept(karim, challenge)
    late = cast.post(mona, "withdraw", challenge, {})
    assert late.status_code == 302
    assert late.headers["Location"] == reverse("games:table", args=[challenge.pk])


def test_only_the_maker_takes_a_challenge_back_and_only_the_challenged_declines() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    to_karim = cast.offer(mona, karim, seed=1)
    by_link = cast.offer(mona, seed=2)
    stranger = cast.browser_of(cast.person("Salma"))
    assert cast.look(stranger, "challenge", to_karim).status_code == 404
    assert accept(stranger, to_karim).status_code == 404
    for page in ("decline", "withdraw"):
        assert cast.post(stranger, page, to_karim, {}).status_code == 404
        assert cast.post(stranger, page, by_link, {}).status_code == 404
    assert cast.post(cast.browser_of(karim), "withdraw", to_karim, {}).status_code == 404
    assert cast.post(cast.browser_of(mona), "decline", to_karim, {}).status_code == 404
    assert {one.state for one in Challenge.objects.all()} == {Challenge.State.WAITING}


def test_a_declined_challenge_tells_its_maker() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(mona, karim)
    assert cast.post(cast.browser_of(karim), "decline", challenge, {}).status_code == 302
    page = cast.look(cast.browser_of(mona), "challenge", challenge)
    assert "Your challenge was declined." in cast.text_of(page)
    assert accept(cast.browser_of(karim), challenge).status_code == 409


def test_a_player_with_as_many_games_as_one_can_have_can_neither_offer_nor_accept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    cast.sit_down(mona, karim, seed=1)
    waiting = cast.offer(mona, seed=2)
    monkeypatch.setattr(selectors, "MOST_OPEN_GAMES", 1)
    form = TERMS | {"form_key": str(uuid.uuid4())}
    offered = cast.posted(cast.browser_of(karim), reverse("games:new_challenge"), form)
    accepted = accept(cast.browser_of(karim), waiting)
    for response in (offered, accepted):
        assert response.status_code == 409
        assert "as many running games and open offers as one can have" in cast.text_of(response)
    assert Game.objects.count() == 1
    cast.play_to_the_end(Game.objects.get())  # a finished game is in nobody's way
    assert accept(cast.browser_of(karim), waiting).status_code == 302


@pytest.mark.parametrize(
    "wrong",
    [
        {"rule_set": "poker"},
        {"target": "52"},
        {"who": "everybody"},
        {"form_key": "7"},
        {"rule_set": "custom"},
        {"rule_set": "custom", "custom-base": "standard", "custom-majority": "101"},
    ],
)
def test_terms_that_do_not_exist_are_refused_with_a_sentence(wrong: dict[str, str]) -> None:
    visitor = cast.browser_of()
    form = TERMS | {"form_key": str(uuid.uuid4())} | wrong
    response = cast.posted(visitor, reverse("games:new_challenge"), form)
    assert response.status_code == 422
    assert 'role="alert"' in cast.text_of(response)
    assert Challenge.objects.count() == User.objects.count() == 0


def test_rules_of_ones_own_are_played_by() -> None:
    mona, karim = cast.browser_of(cast.person("Mona")), cast.browser_of(cast.person("Karim"))
    from games.custom_rules import CustomRulesForm

    standard = CustomRulesForm.of(engine.RULE_SETS["standard"])
    values = {field.html_name: str(field.value()) for field in standard}
    values = {name: "" if value == "None" else value for name, value in values.items()}
    address = offer_of(mona, rule_set="custom", **values | {"custom-basra": "7"})
    page = cast.text_of(cast.get(karim, address))
    assert "Custom rules" in page
    assert "<td>7</td>" in page
    response = cast.posted(karim, f"{address}accept/", {"words": "tea"})
    game = Game.objects.get()
    assert terms_of(game).rules.basra == 7
    table = cast.text_of(cast.get(karim, response.headers["Location"]))
    assert reverse("games:game_rules", args=[game.pk]) in table
    assert "<td>7</td>" in cast.text_of(cast.look(karim, "game_rules", game))


def test_looking_at_what_rules_of_ones_own_do_offers_nothing_and_begins_another_offer() -> None:
    key = str(uuid.uuid4())
    form = TERMS | {"custom-basra": "7", "form_key": key, "preview": "", "csrf": "x"}
    visitor = cast.browser_of()
    answer = cast.posted(visitor, reverse("games:new_challenge"), form)
    where = answer.headers["Location"]
    assert key not in where
    assert "csrf" not in where
    page = cast.text_of(cast.get(visitor, where))
    assert re.search(r'name="rule_set" value="custom"[^>]* checked', page)
    assert re.search(r'name="custom-basra" value="7"', page)
    assert Challenge.objects.count() == User.objects.count() == 0
    shown = re.search(r'name="form_key" value="(.*?)"', page)
    assert shown is not None
    assert shown[1] != key


@pytest.mark.parametrize("query", [{"rule_set": "x"}, {"rule_set": "custom", "custom-basra": "x"}])
def test_an_address_with_values_that_do_not_exist_is_shown_with_a_sentence(
    query: dict[str, str],
) -> None:
    page = cast.get(cast.browser_of(), reverse("games:new_challenge"), query)
    assert page.status_code == 200
    assert 'role="alert"' in cast.text_of(page)


def test_rules_by_which_nothing_counts_are_refused() -> None:
    from games.custom_rules import CustomRulesForm

    standard = CustomRulesForm.of(engine.RULE_SETS["standard"])
    values = {field.html_name: str(field.value()) for field in standard}
    values = {name: "" if value == "None" else value for name, value in values.items()}
    nothing = {f"custom-{key}": "0" for key in ("majority", "basra", "jack_basra")}
    form = TERMS | values | nothing | {"rule_set": "custom", "form_key": str(uuid.uuid4())}
    response = cast.posted(cast.browser_of(), reverse("games:new_challenge"), form)
    assert response.status_code == 422
    assert "nothing counts" in cast.text_of(response)


def test_a_form_that_is_sent_again_with_other_terms_makes_another_offer() -> None:
    mona = cast.browser_of(cast.person("Mona"))
    key = str(uuid.uuid4())
    first = offer_of(mona, form_key=key)
    assert offer_of(mona, form_key=key, target="101") != first


@pytest.mark.parametrize("way", ["offer", "computer", "accept", "record"])
def test_a_visitor_whose_first_form_is_sent_twice_is_one_guest(way: str) -> None:
    """Without script a double click sends it twice before the first answer brings a cookie."""
    key = str(uuid.uuid4())
    challenge = cast.offer(cast.person("Mona"))
    addresses = {
        "offer": reverse("games:new_challenge"),
        "computer": reverse("games:play_computer"),
        "accept": reverse("games:accept", args=[challenge.pk]),
        "record": reverse("games:records"),
    }
    form = TERMS | {"level": "easy", "form_key": key, "words": "mint", "text": SHORT_RECORD}
    answers = [cast.posted(cast.browser_of(), addresses[way], form) for _click in range(2)]
    assert {answer.status_code for answer in answers} == {302}
    assert answers[0].headers["Location"] == answers[1].headers["Location"]
    assert User.objects.filter(kind=User.Kind.GUEST).count() == 1


def test_the_key_of_a_form_leads_to_no_guest_of_long_ago_and_to_no_member() -> None:
    key = uuid.uuid4()
    guest = create_guest(key)
    assert create_guest(key) == guest
    User.objects.filter(pk=guest.pk).update(date_joined=timezone.now() - timedelta(hours=2))
    assert create_guest(key) != guest
    another = create_guest(other := uuid.uuid4())
    User.objects.filter(pk=another.pk).update(kind=User.Kind.MEMBER)
    assert create_guest(other) != another


def test_becoming_a_guest_in_one_tab_leaves_the_forms_of_the_others_good() -> None:
    browser = Client(enforce_csrf_checks=True)
    page = cast.text_of(cast.get(browser, reverse("games:new_challenge")))
    token = re.search(r'name="csrfmiddlewaretoken" value="(.*?)"', page)
    assert token is not None
    form = TERMS | {"csrfmiddlewaretoken": token[1]}
    for _tab in range(2):
        sent = form | {"form_key": str(uuid.uuid4())}
        assert cast.posted(browser, reverse("games:new_challenge"), sent).status_code == 302
    assert User.objects.count() == 1


def test_the_open_table_has_further_pages_and_none_is_lost() -> None:
    names = [f"Maker {number}" for number in range(selectors.CHALLENGES_IN_THE_LIST + 2)]
    offers = [cast.offer(cast.person(name), listed=True, seed=n) for n, name in enumerate(names)]
    visitor = cast.browser_of()
    pages = cast.text_of(cast.look(visitor, "open_table"))
    assert "?page=2" in pages
    pages += cast.text_of(cast.get(visitor, reverse("games:open_table"), {"page": "2"}))
    assert all(str(offered.pk) in pages for offered in offers)
    for wrong in ("0", "x", "1000", "-1"):
        address = reverse("games:open_table")
        assert cast.get(visitor, address, {"page": wrong}).status_code == 404


def test_a_form_without_anything_in_it_is_refused_with_a_sentence() -> None:
    response = cast.posted(cast.browser_of(), reverse("games:new_challenge"), {})
    assert response.status_code == 422
    assert 'role="alert"' in cast.text_of(response)


def test_nobody_fills_the_open_table_alone() -> None:
    mona = cast.browser_of(cast.person("Mona"))
    for _offer in range(selectors.MOST_LISTED_CHALLENGES):
        offered = offer_of(mona, who="list")
    form = TERMS | {"form_key": str(uuid.uuid4()), "who": "list"}
    refused = cast.posted(mona, reverse("games:new_challenge"), form)
    assert refused.status_code == 409
    assert "enough offers on the open table" in cast.text_of(refused)
    assert offer_of(mona, who="link")
    cast.posted(mona, f"{offered}withdraw/", {})
    assert offer_of(mona, who="list")


def to_one(opponent: User, key: uuid.UUID | None = None) -> dict[str, str]:
    asked = {"who": "player", "opponent": str(opponent.public_id)}
    return TERMS | asked | {"form_key": str(key or uuid.uuid4())}


def test_nobody_floods_another_player_with_offers() -> None:
    mona, karim, salma = cast.person("Mona"), cast.person("Karim"), cast.person("Salma")
    browser, new = cast.browser_of(mona), reverse("games:new_challenge")
    key = uuid.uuid4()
    for number in range(MOST_WAITING_OF_A_PAIR):
        last = cast.posted(browser, new, to_one(karim, key if number == 2 else None))
        assert last.status_code == 302
    refused = cast.posted(browser, new, to_one(karim))
    assert refused.status_code == 409
    assert "This player does not take challenges from you." in cast.text_of(refused)
    # The form of the last one sent again is that one; others may, and so may Karim.
    assert cast.posted(browser, new, to_one(karim, key))["Location"] == last["Location"]
    for maker, opponent in ((salma, karim), (karim, mona), (mona, salma)):
        assert cast.posted(cast.browser_of(maker), new, to_one(opponent)).status_code == 302
    cast.posted(browser, f"{last['Location']}withdraw/", {})
    assert cast.posted(browser, new, to_one(karim)).status_code == 302


def test_many_together_do_not_flood_a_player_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(challenges, "MOST_WAITING_FOR_ONE", 2)
    karim, new = cast.person("Karim"), reverse("games:new_challenge")
    services.challenge_by_the_computer(
        player=karim,
        level=User.Level.EASY,
        rules=engine.RULE_SETS[engine.DEFAULT_RULE_SET],
        target=None,
    )
    makers = [cast.browser_of(cast.person(name)) for name in ("Mona", "Salma", "Tarek")]
    statuses = [cast.posted(maker, new, to_one(karim)).status_code for maker in makers]
    assert statuses == [302, 302, 409]
    assert offer_of(makers[2])  # by link to anybody
    rules = engine.RULE_SETS[engine.DEFAULT_RULE_SET]
    assert services.challenge_by_the_computer(
        player=karim, level=User.Level.HARD, rules=rules, target=None
    )


def test_home_shows_no_more_offers_than_there_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "MOST_OFFERS_AT_HOME", 3)
    mona = cast.person("Mona")
    for seed in range(1, 6):
        cast.offer(mona, seed=seed)
    home = cast.text_of(cast.look(cast.browser_of(mona), "home"))
    assert home.count("Your challenge") == 3


@pytest.mark.django_db(transaction=True)
def test_offers_made_at_once_are_counted_one_after_the_other(in_threads: InThreads) -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    rules, key = engine.RULE_SETS[engine.DEFAULT_RULE_SET], uuid.uuid4()

    def offer(form_key: uuid.UUID) -> object:
        return services.make_challenge(
            player=mona, rules=rules, target=None, opponent=karim, form_key=form_key
        )

    keys = [key, key, key, *(uuid.uuid4() for _other in range(5))]
    results = in_threads([partial(offer, one) for one in keys])
    assert Challenge.objects.count() == MOST_WAITING_OF_A_PAIR
    refused = [one for one in results if isinstance(one, Exception)]
    assert all(isinstance(one, services.TakesNoChallenge) for one in refused)
    assert len({str(one) for one in results[:3]}) == 1  # one form is one offer, or none


def test_words_that_were_typed_stay_when_the_challenge_cannot_be_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    challenge = cast.offer(cast.person("Mona"))
    karim = cast.browser_of(cast.person("Karim"))
    monkeypatch.setattr(selectors, "MOST_OPEN_GAMES", 0)
    page = cast.text_of(accept(karim, challenge, words="my own words"))
    assert 'value="my own words"' in page
    assert "data-proposed" not in page  # so that no script writes over them
    assert "data-proposed" in cast.text_of(cast.look(karim, "challenge", challenge))


def test_a_maker_who_comes_back_finds_the_challenge_as_it_was() -> None:
    mona = cast.person("Mona")
    challenge = cast.offer(mona, listed=True)
    User.objects.filter(pk=mona.pk).update(seen_at=timezone.now() - timedelta(days=2))
    page = cast.text_of(cast.look(cast.browser_of(mona), "challenge", challenge))
    assert "Waiting for somebody to accept" in page
    assert accept(cast.browser_of(cast.person("Karim")), challenge).status_code == 302


@pytest.mark.parametrize("guess", ["waiting", "declined", "", "x"])
def test_a_poll_tells_a_stranger_nothing_of_a_challenge_to_somebody_else(guess: str) -> None:
    challenge = cast.offer(cast.person("Mona"), cast.person("Karim"))
    for salma in (cast.browser_of(cast.person("Salma")), cast.browser_of()):
        url = reverse("games:challenge", args=[challenge.pk])
        assert salma.get(url, headers=cast.HTMX | {"HX-PTag": guess}).status_code == 404


def test_what_ended_without_a_game_is_deleted_after_a_month_and_the_rest_is_kept() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    declined, withdrawn, waiting = (cast.offer(mona, karim, seed=seed) for seed in (1, 2, 3))
    services.decline_challenge(challenge_id=declined.pk, player=karim)
    services.withdraw_challenge(challenge_id=withdrawn.pk, player=mona)
    played = cast.sit_down(mona, karim, seed=4)
    services.close_challenges()
    assert Challenge.objects.count() == 4
    long_ago = timezone.now() - selectors.CHALLENGE_IS_KEPT - timedelta(minutes=1)
    Challenge.objects.exclude(answered_at=None).update(answered_at=long_ago)
    services.close_challenges()
    kept = {waiting.pk, played.pk}
    assert set(Challenge.objects.values_list("pk", flat=True)) == kept
    assert set(Seal.objects.values_list("pk", flat=True)) == kept
    call_command("audit")


def test_a_challenge_whose_terms_are_damaged_breaks_neither_home_nor_the_open_table() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    challenge = cast.offer(mona, listed=True)
    Challenge.objects.update(rule_set="poker")
    browser = cast.browser_of(karim, tells_errors=False)
    assert str(challenge.pk) in cast.text_of(cast.look(browser, "open_table"))
    assert cast.look(cast.browser_of(mona), "home").status_code == 200
    assert cast.look(browser, "challenge", challenge).status_code == 503


# Rematches


def finished_game(seed: int = 1) -> Game:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    return cast.play_to_the_end(cast.sit_down(mona, karim, target=None, seed=seed))


def press_rematch(player: User, game: Game) -> Any:
    response = cast.post(cast.browser_of(player), "rematch", game, {})
    assert response.status_code == 302
    return response


def test_one_offers_a_rematch_and_the_other_presses_rematch_and_there_is_one_game() -> None:
    old = finished_game()
    press_rematch(old.player_a, old)
    karim = cast.browser_of(old.player_b)
    assert "offers a rematch" in cast.text_of(cast.look(karim, "table", old))
    page = cast.get(karim, press_rematch(old.player_b, old).headers["Location"])
    assert "data-deal-at-once" in cast.text_of(page)
    challenge = Challenge.objects.get(rematch_of=old)
    accept(karim, challenge)
    new = Game.objects.get(pk=challenge.pk)
    assert (new.player_a, new.player_b) == (old.player_a, old.player_b)
    assert terms_of(new) == terms_of(old)
    assert Challenge.objects.filter(rematch_of=old).count() == 1
    for player in (old.player_a, old.player_b):
        table = cast.text_of(cast.look(cast.browser_of(player), "table", old))
        assert "To the rematch" in table
        assert cast.post(cast.browser_of(player), "rematch", old, {}).status_code == 302
    assert Game.objects.count() == 2


def test_a_link_that_somebody_else_made_does_not_accept_by_itself() -> None:
    old = finished_game()
    hers = press_rematch(old.player_a, old).headers["Location"]
    page = cast.get(
        cast.browser_of(old.player_b), hers
    )  # with the mark of her pressing, not of his
    assert "data-deal-at-once" not in cast.text_of(page)


def test_a_declined_rematch_is_not_offered_again_by_the_same_player() -> None:
    old = finished_game()
    press_rematch(old.player_a, old)
    challenge = Challenge.objects.get(rematch_of=old)
    services.decline_challenge(challenge_id=challenge.pk, player=old.player_b)
    press_rematch(old.player_a, old)
    assert Challenge.objects.filter(rematch_of=old).count() == 1
    press_rematch(old.player_b, old)  # the other may think better of it
    assert Challenge.objects.filter(rematch_of=old, state="waiting").count() == 1


def test_an_offer_that_was_taken_back_can_be_made_again_but_not_for_ever() -> None:
    old = finished_game()
    browser = cast.browser_of(old.player_a)
    for _offer in range(MOST_OFFERS_OF_A_REMATCH):
        press_rematch(old.player_a, old)
        offered = Challenge.objects.get(rematch_of=old, state="waiting")
        services.withdraw_challenge(challenge_id=offered.pk, player=old.player_a)
    refused = cast.post(browser, "rematch", old, {})
    assert refused.status_code == 409
    assert "often enough" in cast.text_of(refused)
    press_rematch(old.player_b, old)


def test_a_rematch_that_expired_stands_in_nobodys_way_though_no_sweep_has_run() -> None:
    old = finished_game()
    press_rematch(old.player_a, old)
    let_time_pass(Challenge.objects.get(rematch_of=old), selectors.CHALLENGE_LASTS)
    page = cast.text_of(cast.look(cast.browser_of(old.player_b), "table", old))
    assert "offers a rematch" not in page
    press_rematch(old.player_b, old)
    offered = Challenge.objects.get(rematch_of=old, state="waiting")
    assert offered.maker == old.player_b


def test_a_table_learns_of_an_offer_that_took_another_ones_place() -> None:
    old = finished_game()
    press_rematch(old.player_a, old)
    before = selectors.pulse(old.player_a, old.pk)
    offered = Challenge.objects.get(rematch_of=old)
    services.decline_challenge(challenge_id=offered.pk, player=old.player_b)
    press_rematch(old.player_b, old)
    after = selectors.pulse(old.player_a, old.pk)
    assert before is not None
    assert after is not None
    assert before[1].partition(":")[0] != after[1].partition(":")[0]


def test_a_running_game_and_one_against_the_computer_have_no_rematch() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    running = cast.sit_down(mona, karim, seed=1)
    against_the_computer = cast.sit_down_with_the_computer(mona, seed=2)
    services.resign(game_id=against_the_computer.pk, player=mona)
    for game in (running, against_the_computer):
        assert cast.post(cast.browser_of(mona), "rematch", game, {}).status_code == 404
    assert (
        cast.post(cast.browser_of(cast.person("Salma")), "rematch", running, {}).status_code == 404
    )


def test_nothing_of_the_old_game_is_in_the_rematch() -> None:
    mona, karim = cast.person("Mona"), cast.person("Karim")
    old = cast.play_until_ply(cast.sit_down(mona, karim), 20)
    services.offer_to_cancel(game_id=old.pk, player=mona)
    services.resign(game_id=old.pk, player=karim)
    press_rematch(mona, old)
    challenge = Challenge.objects.get(rematch_of=old)
    accept(cast.browser_of(karim), challenge)
    new = cast.as_it_is(Game(pk=challenge.pk))
    assert (new.plies, new.cancel_offer, new.reason, new.seen_a, new.seen_b) == (0, "", "", 0, 0)
    assert new.anchor != cast.as_it_is(old).anchor
    page = cast.text_of(cast.look(cast.browser_of(karim), "table", new))
    assert "resigned" not in page
    assert 'id="cancel-offer"' not in page


def test_the_database_itself_knows_one_rematch_of_a_game() -> None:
    old = finished_game()
    press_rematch(old.player_a, old)
    offered = Challenge.objects.get(rematch_of=old)
    offered.pk, offered.form_key = uuid.uuid4(), None
    with pytest.raises(IntegrityError):
        offered.save(force_insert=True)
