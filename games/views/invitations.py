"""Invitations by mail: mine, and what somebody sees who has got one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, cast

from django.core.signing import BadSignature
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import addresses, quotas
from accounts.guests import create_guest, keep_signed_in, player_of
from accounts.models import User
from basra_site.http import Request
from basra_site.stale_forms import shown_again

from .. import engine, selectors, services, wording
from ..forms import InvitedWordsForm
from ..models import Challenge
from ..services import invitations as service
from ..snapshot import BrokenGame, terms_of
from ..table import challenge_row
from .access import deal_form, too_many_games

logger = logging.getLogger(__name__)

_LISTED = 50


@never_cache
@require_safe
def invitations(request: Request) -> HttpResponse:
    """The invitations that I have sent, what has become of them, and how many more I may send."""
    player = player_of(request.user)
    context: dict[str, Any] = {"may_invite": False}
    if player is not None and player.is_member:
        mailed = selectors.invitations_by(player, _LISTED)
        context = {
            "may_invite": addresses.has_confirmed_one(player),
            "rows": [(challenge_row(one, player), _fate(one)) for one in mailed],
            "quotas": [(quotas.used(limit), limit.most) for limit in service.limits_of(player)],
        }
    return render(request, "games/invitations.html", context)


def _fate(challenge: Challenge) -> tuple[str, str]:
    """Return what has become of an invitation, and the name of whoever accepted it."""
    if challenge.state == Challenge.State.ACCEPTED:
        return "accepted", challenge.opponent.shown_name if challenge.opponent else ""
    if challenge.state == Challenge.State.WAITING and not challenge.is_waiting:
        return Challenge.State.EXPIRED.value, ""
    return challenge.state, ""


type TokenView = Callable[[Request, str], HttpResponse]


def _says_when_gone(view: TokenView) -> TokenView:
    """Answer a link that leads nowhere, or not any more, with a page that leads elsewhere."""

    @wraps(view)
    def answer(request: Request, token: str) -> HttpResponse:
        try:
            return view(request, token)
        except selectors.ChallengeNotFound:
            return _gone(request, HTTPStatus.NOT_FOUND)
        except BrokenGame as broken:
            logger.error("broken game", extra={"game": str(broken.game_id), "why": broken.why})
            return _gone(request, HTTPStatus.SERVICE_UNAVAILABLE)

    return answer


@never_cache
@require_safe
@_says_when_gone
def invitation(request: Request, token: str) -> HttpResponse:
    """What was mailed: who invites, to what, with a button. Looking at it changes nothing."""
    return _invitation(request, token)


@never_cache
@require_POST
@_says_when_gone
def accept_invitation(request: Request, token: str) -> HttpResponse:
    """Take the other seat with my words for the shuffle. A visitor becomes a guest by it."""
    visitor = player_of(request.user)
    challenge = service.open_invitation(token, visitor)
    form = InvitedWordsForm(request.POST)
    if not form.is_valid():
        notice = _("The words are one line of at most 200 characters. Please change them.")
        typed = form["words"].value() or ""
        return _invitation(request, token, HTTPStatus.UNPROCESSABLE_ENTITY, notice, typed)
    try:
        with transaction.atomic():  # nobody becomes a guest for a seat that is taken
            player = visitor or create_guest(form.cleaned_data["form_key"])
            game = service.accept_invitation(
                token=token,
                player=player,
                words=form.cleaned_data["words"],
                words_by=form.words_by(challenge.pk),
                agreed=form.cleaned_data["agreed"],
            )
    except service.NotTheInvited:
        notice = _("Please tick that you want to accept with this account.")
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    except services.OwnChallenge:
        notice, status = "", HTTPStatus.CONFLICT  # the page says whose it is
    except services.TooManyGames:
        notice, status = too_many_games(), HTTPStatus.CONFLICT
    except services.ChallengeClosed:
        return _gone(request, HTTPStatus.CONFLICT)
    else:
        if visitor is None:
            keep_signed_in(request, player)
        return redirect("games:table", services.computer_reply(game).pk)
    return _invitation(request, token, status, notice, form.cleaned_data["words"])


@never_cache
@require_POST
@_says_when_gone
def decline_invitation(request: Request, token: str) -> HttpResponse:
    """Say no, as whoever has the link."""
    try:
        service.decline_invitation(token=token, player=player_of(request.user))
    except services.ChallengeClosed:
        return _gone(request, HTTPStatus.CONFLICT)
    return _gone(request, HTTPStatus.OK, _("You declined this invitation."))


@never_cache
@csrf_exempt  # a mail program posts here, without cookies; the address is the permission
@require_http_methods(["GET", "HEAD", "POST"])
def never(request: Request, signed: str) -> HttpResponse:
    """Want no invitation by mail any more: a button, and what it does; see RFC 8058."""
    try:
        service.may_stop_inviting(signed)
        if request.method == "POST":
            service.stop_inviting(signed)
    except BadSignature:
        raise Http404 from None
    return render(request, "games/never.html", {"is_done": request.method == "POST"})


def _invitation(
    request: Request,
    token: str,
    status: int = HTTPStatus.OK,
    notice: str = "",
    words: str | None = None,
) -> HttpResponse:
    player = player_of(request.user)
    challenge = service.open_invitation(token, player)
    if challenge.state == Challenge.State.ACCEPTED and selectors.plays_in(player, challenge.pk):
        return redirect("games:table", challenge.pk)
    if not challenge.is_waiting:
        return _gone(request, HTTPStatus.GONE)
    terms = terms_of(challenge)
    context = {
        "challenge": challenge_row(challenge, player),
        "is_mine": _is_mine(challenge, player),
        "asks_first": service.asks_first(challenge.invitation, player),
        "expires_at": challenge.expires_at,
        "is_custom": terms.rules.name == engine.CUSTOM,
        "rule_values": wording.rule_values(terms.rules),
        "notice": notice,
        **deal_form(challenge, words),
        "here": reverse("games:invitation", args=[token]),
        "accept": reverse("games:accept_invitation", args=[token]),
        "decline": reverse("games:decline_invitation", args=[token]),
        "never": reverse(
            "games:never", args=[service.never_again(challenge.invitation.address_digest)]
        ),
    }
    return render(request, "games/invitation.html", context, status=status)


@shown_again("games:accept_invitation", "games:decline_invitation")
def _again(request: HttpRequest, sentence: str, status: HTTPStatus) -> HttpResponse:
    """Show the invitation with the words that were typed."""
    sentence += " " + _("Cookies of this site have to be allowed.")

    @_says_when_gone
    def page(request: Request, token: str) -> HttpResponse:
        return _invitation(request, token, status, sentence, request.POST.get("words"))

    match = request.resolver_match
    return page(cast("Request", request), match.kwargs["token"] if match else "")


def _is_mine(challenge: Challenge, player: User | None) -> bool:
    return player is not None and challenge.maker_id == player.pk


def _gone(request: Request, status: int, sentence: str = "") -> HttpResponse:
    context = {"sentence": sentence or _("This invitation is no longer available.")}
    return render(request, "games/invitation_gone.html", context, status=status)
