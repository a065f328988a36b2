"""The pages about one's own data: what is kept, taking it along, deleting the account."""

from __future__ import annotations

import time
from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from . import addresses, closing, exporting, redirects, retention
from .guests import player_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .models import User

    type View = Callable[..., HttpResponse]

SIGNED_IN_LATELY = 10 * 60
"""Seconds in which a sign-in stands for being asked again, where there is nothing to ask for."""


def _whoever_it_really_is(view: View) -> View:
    """Let a POST through only from who has just shown again who they are.

    A guest has nothing to show but the cookie. A member without password, address or second
    factor (who came from another site) must have signed in a moment ago.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        player = player_of(request.user)
        if request.method == "POST" and player is not None and player.is_member:
            if get_adapter().get_reauthentication_methods(player):
                # Leads away, and comes back with this very request.
                raise_if_reauthentication_required(request, app="account")
            elif not _signed_in_lately(request, player):
                return render(request, "accounts/sign_in_again.html", status=HTTPStatus.FORBIDDEN)
        return view(request, *args, **kwargs)

    return answer


def _signed_in_lately(request: HttpRequest, player: User) -> bool:
    records = get_authentication_records(request, player)
    return bool(records) and time.time() - records[-1]["at"] < SIGNED_IN_LATELY


def _player(request: HttpRequest) -> User:
    player = player_of(request.user)
    if player is None:
        raise Http404
    return player


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    """What is stored, why, for how long, who else gets it, and what one can do about it."""
    context = {"kept": retention.KEPT, **_operator()}
    return render(request, "accounts/privacy.html", context)


@require_safe
def terms(request: HttpRequest) -> HttpResponse:
    """What the site promises and what it expects, in plain words."""
    return render(request, "accounts/terms.html", _operator())


def _operator() -> dict[str, Any]:
    return {"operator": settings.OPERATOR, "contact": settings.CONTACT}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@_whoever_it_really_is
def export(request: HttpRequest) -> HttpResponse:
    """Ask for a file with everything that is stored of me, and see whether it is there."""
    player = player_of(request.user)
    if player is None:
        return redirects.sign_in_first(request)
    if request.method == "POST":
        try:
            exporting.ask(player)
        except exporting.AskedOften:
            return _export_page(request, player, HTTPStatus.TOO_MANY_REQUESTS)
        return redirect("accounts:export")
    return _export_page(request, player)


def _export_page(
    request: HttpRequest, player: User, status: HTTPStatus = HTTPStatus.OK, **more: Any
) -> HttpResponse:
    latest = exporting.latest(player)
    context = {
        "latest": latest,
        "until": latest.made_at + exporting.KEPT_FOR if latest and latest.made_at else None,
        "mailed": bool(addresses.confirmed_addresses(player)),
        "asked_often": status == HTTPStatus.TOO_MANY_REQUESTS,
        **more,
    }
    return render(request, "accounts/export.html", context, status=status)


@never_cache
@require_POST
@_whoever_it_really_is
def export_file(request: HttpRequest) -> HttpResponse:
    """Hand out the file, once."""
    player = _player(request)
    try:
        content = exporting.fetch(player)
    except exporting.NothingToFetch:
        return _export_page(request, player, HTTPStatus.CONFLICT, gone=True)
    return HttpResponse(
        content,
        content_type="application/zip",
        headers={"Content-Disposition": 'attachment; filename="basra-data.zip"'},
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@_whoever_it_really_is
def close(request: HttpRequest) -> HttpResponse:
    """Say what deleting the account means, and let it be deleted when seven days are over."""
    player = player_of(request.user)
    if player is None:
        return redirects.sign_in_first(request)
    if request.method == "POST":
        try:
            closing.ask_to_close(player)
        except closing.NotAsked:  # it went in this very moment
            raise Http404 from None
        return redirect("accounts:close")
    context = {
        "closes_at": player.closes_at,
        "days": closing.STAYS_FOR.days,
        "name_days": closing.NAME_RESTS_FOR.days,
        "mailed": bool(addresses.confirmed_addresses(player)),
    }
    return render(request, "accounts/close.html", context)


@never_cache
@require_POST
def keep(request: HttpRequest) -> HttpResponse:
    """Keep my account after all. Who is signed in may: it takes nothing from anybody."""
    closing.keep(_player(request))
    return redirect("accounts:close")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def keep_by_mail(request: HttpRequest, token: str) -> HttpResponse:
    """Keep the account that a mailed link belongs to; looking at the link does nothing yet."""
    try:
        account = closing.account_to_keep(token)
    except closing.NotAsked:
        return render(request, "accounts/keep.html", {"gone": True}, status=HTTPStatus.NOT_FOUND)
    if request.method == "POST":
        if not closing.keep(account):
            return render(request, "accounts/keep.html", {"gone": True}, status=HTTPStatus.CONFLICT)
        return redirect(reverse("accounts:keep_by_mail", args=[token]))
    return render(request, "accounts/keep.html", {"closes_at": account.closes_at})
