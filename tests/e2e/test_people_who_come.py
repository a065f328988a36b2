"""One story from beginning to end: a guest becomes somebody, and brings somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from playwright.sync_api import expect

from accounts.models import User
from games.models import Game
from tests import cast
from tests.games.test_invitations import path_in
from tests.post_office import links_of

from .table import Table, address, lay, my_plays, start_game
from .test_facebook import agree_as, press_facebook
from .test_invitations import confirmation_in, invite_by_mail, sign_up

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pytest_django.live_server_helper import LiveServer

    from tests.post_office import PostOffice
    from tests.stand_in import StandIn

NORA = "nora@example.com"
AMIRA = "amira@example.org"


def test_a_guest_wins_signs_up_by_facebook_plays_on_elsewhere_and_invites_a_stranger_who_stays(
    phone: Page,
    browser: Browser,
    live_server: LiveServer,
    facebook: StandIn,
    post_office: PostOffice,
) -> None:
    site = live_server.url
    won = a_guest_wins(phone, site)

    press_facebook(phone, live_server)
    agree_as(phone, "Amira Hassan")
    phone.get_by_label("Name").fill("Amira of Cairo")
    phone.get_by_role("button", name="Begin").tap()
    expect(phone.get_by_role("link", name="Your name: Amira of Cairo")).to_be_visible()
    phone.goto(address(site, won))
    expect(Table(phone).status).to_contain_text("You win!")
    amira = User.objects.get(name="Amira of Cairo")
    assert cast.as_it_is(won).player_b == amira

    # On another device she begins a game, and goes on with it here.
    elsewhere = browser.new_context().new_page()
    press_facebook(elsewhere, live_server)
    agree_as(elsewhere, "Amira Hassan")
    start_game(elsewhere, site).play_first_card()
    running = Game.objects.get(status=Game.Status.RUNNING)
    phone.goto(address(site, running))
    here = Table(phone)
    here.expect_my_turn()
    here.play_first_card()
    assert len(my_plays(running)) == 2

    # Whoever writes to strangers has shown where answers reach her.
    [confirms] = post_office.mails_to(AMIRA)
    [path] = [urlsplit(link).path for link in links_of(confirms) if "/account/address/" in link]
    phone.goto(site + path)
    phone.get_by_role("button", name="Yes, this is my account").tap()
    expect(phone.get_by_role("button", name="Yes, this is my account")).to_have_count(0)
    invite_by_mail(phone, site, NORA)

    stranger = browser.new_context().new_page()
    [mail] = post_office.mails_to(NORA)
    stranger.goto(site + path_in(mail))
    expect(stranger.get_by_role("heading", name="Amira of Cairo invites you")).to_be_visible()
    stranger.get_by_role("button", name="Accept and deal").click()
    nora = Table(stranger)
    expect(nora.status).to_be_visible()
    game = Game.objects.get(player_a=amira, status=Game.Status.RUNNING)
    if cast.player_to_play(game) == amira:
        phone.goto(address(site, game))
        Table(phone).play_first_card()
        stranger.reload()
    nora.play_first_card()

    sign_up(stranger, site, NORA)
    stranger.goto(site + confirmation_in(post_office.mails_to(NORA)[-1]))
    stranger.get_by_role("button", name="Confirm").click()
    expect(stranger.get_by_role("button", name="Confirm")).to_have_count(0)
    stranger.goto(address(site, game))
    expect(nora.status).to_be_visible()
    member = EmailAddress.objects.get(email=NORA, verified=True).user
    assert cast.as_it_is(game).player_b == member
    assert member.is_member


def a_guest_wins(page: Page, site: str) -> Game:
    """Play a game as a guest, whose last card takes all that lies."""
    table = start_game(page, site)
    game = Game.objects.get()
    lay(game, "QS", "2H", "QD")
    page.reload()
    table.expect_my_turn()
    table.play_first_card()
    expect(table.status).to_contain_text("You win!")
    return game
