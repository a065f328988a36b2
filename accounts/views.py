"""What a player sets, and whom a player knows."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from . import friends as services
from . import redirects
from .addresses import has_confirmed_one
from .facebook import friends_who_play
from .forms import FriendForm, SettingsForm
from .guests import player_of
from .models import Friendship, User
from .presence import how_lately
from .relations import asks_of, friends_of

_PEOPLE_ON_A_PAGE = 50
_PAGE = re.compile("[1-9][0-9]{0,2}", re.ASCII)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """Show and change my name and settings."""
    player = player_of(request.user)
    if player is None:
        return redirects.sign_in_first(request)
    # A form writes into what it is given, and the page must not show what was refused.
    form = SettingsForm(request.POST or None, instance=copy.copy(player))
    status = HTTPStatus.OK
    if request.method == "POST":
        if form.is_valid():
            try:
                with transaction.atomic():
                    form.save()
            except IntegrityError:  # somebody took it between the check and the save
                form.add_error("name", form.name_taken())
            else:
                messages.success(request, _("Saved."))
                return redirect("games:home")
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    context = {
        "form": form,
        "player": player,
        "no_mail": player.is_member and not has_confirmed_one(player),
    }
    return render(request, "accounts/settings.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def friends(request: HttpRequest) -> HttpResponse:
    """My friends, who asks for it, whom I have blocked; a form asks the player of a name."""
    player = player_of(request.user)
    if player is None:
        return redirects.sign_in_first(request)
    if request.method != "POST":
        page = request.GET.get("page", "1")
        if not _PAGE.fullmatch(page):
            raise Http404
        return _friends(request, player, FriendForm(), page=int(page))
    form = FriendForm(request.POST)
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    if form.is_valid():
        try:
            other = services.player_called(form.cleaned_data["name"])
            services.ask(player, other)
        except services.NoSuchPlayer:
            form.add_error("name", _("No player has this name."))
        except _REFUSALS as refusal:
            form.add_error(None, _refusal(refusal, player))
            status = HTTPStatus.CONFLICT
        else:
            messages.success(request, _asked())
            return redirect("accounts:friends")
    return _friends(request, player, form, status)


def _friends(
    request: HttpRequest,
    player: User,
    form: FriendForm,
    status: int = HTTPStatus.OK,
    page: int = 1,
) -> HttpResponse:
    """Show a page of each list: all of them are turned over together."""
    shown = slice((page - 1) * _PEOPLE_ON_A_PAGE, page * _PEOPLE_ON_A_PAGE + 1)
    asked = Friendship.objects.filter(asker=player, accepted_at=None).select_related("asked")
    blocks = player.blocks_made.select_related("blocked").order_by("-at", "pk")
    lists: dict[str, list[Any]] = {
        # Friends see what everybody or friends may; who has blocked the other is none.
        "friends": [(one, _presence(one)) for one in friends_of(player)[shown]],
        "asks": [row.asker for row in asks_of(player).select_related("asker")[shown]],
        "asked": [row.asked for row in asked.order_by("-asked_at", "pk")[shown]],
        "blocked": [row.blocked for row in blocks[shown]],
    }
    context = {
        "form": form,
        "player": player,
        **{name: people[:_PEOPLE_ON_A_PAGE] for name, people in lists.items()},
        "further": page + 1 if max(map(len, lists.values())) > _PEOPLE_ON_A_PAGE else None,
        "on_facebook": friends_who_play(request),
    }
    return render(request, "accounts/friends.html", context, status=status)


def _presence(friend: User) -> str:
    shown = not friend.quiet and friend.may_see != User.Audience.NOBODY
    return how_lately(friend) if shown else ""


# What one can do about another player


def _act(
    service: Callable[[User, User], Any], told: Callable[[], str] | None = None
) -> Callable[..., HttpResponse]:
    """Return the view of a button that does ``service`` about the player of its address."""

    @never_cache
    @require_POST
    def act(request: HttpRequest, player_id: UUID) -> HttpResponse:
        player = player_of(request.user)
        if player is None:
            raise Http404
        try:
            other = services.player_at(player_id)
        except services.NoSuchPlayer:
            raise Http404 from None
        try:
            service(player, other)
        except _REFUSALS as refusal:
            context = {"sentence": _refusal(refusal, player), "other": other}
            return render(request, "accounts/cannot.html", context, status=HTTPStatus.CONFLICT)
        if told is not None:
            messages.success(request, told())
        if request.POST.get("back") == "friends":
            return redirect("accounts:friends")
        return redirect("games:player", other.public_id)

    return act


_REFUSALS = (
    services.MembersOnly,
    services.TakesNoRequests,
    services.HasBlocked,
    services.TooMany,
)


def _asked() -> str:
    """Return what is said of a request, whether or not it is heard."""
    return _("You have asked. If they agree, you find them among your friends.")


ask = _act(services.ask, _asked)
accept = _act(services.accept)
decline = _act(services.decline)
cancel = _act(services.cancel)
remove = _act(services.remove)
block = _act(services.block)
unblock = _act(services.unblock)


def _refusal(refusal: Exception, player: User) -> str:
    match refusal:
        case services.TakesNoRequests():
            return _("This player takes no requests at the moment.")
        case services.HasBlocked():
            return _("You have blocked this player. Take that back first.")
        case services.TooMany():
            return _("You have as many of these as one can have. Take some back first.")
        case _ if not player.is_member:
            return _("Guests have no friends yet: make an account first. Your games come along.")
        case _:
            return _("This is only for two different players with accounts.")
