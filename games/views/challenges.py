"""Offering a game: to a friend by a link, on the open table, and again after a game."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.core.signing import Signer
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect, ptag

from accounts import addresses
from accounts.friends import NoSuchPlayer, player_at
from accounts.guests import create_guest, keep_signed_in, player_of
from accounts.models import User
from accounts.relations import friends_of, may_challenge
from basra_site.http import Request
from basra_site.stale_forms import shown_again

from .. import engine, selectors, services, wording
from ..custom_rules import CustomRulesForm, examples_of
from ..engine import RuleSet
from ..forms import ChallengeForm, WordsForm
from ..models import Challenge
from ..services import invitations
from ..sharing import Sharing, sharing_of
from ..snapshot import terms_of
from ..table import challenge_row
from .access import deal_form, player_or_404, says_when_broken, too_many_games, wants_board
from .table import table_page

_LONGEST_VALUE = 254
_PAGE = re.compile("[1-9][0-9]{0,2}", re.ASCII)


@never_cache
@require_safe
def open_table(request: Request) -> HttpResponse:
    """The challenges that anybody may accept."""
    page = request.GET.get("page", "1")
    if not _PAGE.fullmatch(page):
        raise Http404
    player = player_of(request.user)
    listed, more = selectors.open_list(player, int(page))
    context = {
        "rows": [challenge_row(challenge, player) for challenge in listed],
        "older": int(page) + 1 if more else None,
    }
    return render(request, "games/open_table.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_challenge(request: Request) -> HttpResponse:
    """Choose the terms of a game with another person. A visitor becomes a guest by offering it.

    Posted with ``preview`` it leads to a page that shows what rules of one's own would do.
    """
    if request.method != "POST":
        return _new_challenge(request, *_forms_to_show(request))
    if "preview" in request.POST:
        # A page of its own, so that Back comes to it again.
        chosen = {name: value[:_LONGEST_VALUE] for name, value in _values_of(request.POST)}
        query = chosen | {"rule_set": engine.CUSTOM}
        return redirect(f"{reverse('games:new_challenge', query=query)}#custom-rules")
    people = _people(request, request.POST.get("opponent", ""))
    form, custom = ChallengeForm(request.POST, people=people), CustomRulesForm(request.POST)
    rules = _rules(form, custom)
    if rules is None:
        return _new_challenge(request, form, custom, HTTPStatus.UNPROCESSABLE_ENTITY)
    if form.cleaned_data["who"] == ChallengeForm.MAIL:
        return _invite(request, form, custom, rules)
    visitor = player_of(request.user)
    try:
        with transaction.atomic():  # nobody becomes a guest for a game that is not offered
            player = visitor or create_guest(form.cleaned_data["form_key"])
            challenge = services.make_challenge(
                player=player,
                rules=rules,
                target=form.cleaned_data["target"],
                listed=form.cleaned_data["who"] == ChallengeForm.LIST,
                opponent=form.chosen_opponent(),
                form_key=form.cleaned_data["form_key"],
            )
    except services.TooManyGames:
        form.add_error(None, too_many_games())
        return _new_challenge(request, form, custom, HTTPStatus.CONFLICT)
    except services.TakesNoChallenge:
        form.add_error(None, _takes_no_challenges())
        return _new_challenge(request, form, custom, HTTPStatus.CONFLICT)
    except services.TooManyListed:
        form.add_error(
            None, _("You have enough offers on the open table. Take one of them back first.")
        )
        return _new_challenge(request, form, custom, HTTPStatus.CONFLICT)
    if visitor is None:
        keep_signed_in(request, player)
    return redirect("games:challenge", challenge.pk)


def _invite(
    request: Request, form: ChallengeForm, custom: CustomRulesForm, rules: RuleSet
) -> HttpResponse:
    """Offer a game by mail. The answer is the same whatever is known of the address."""
    player = player_of(request.user)
    try:
        invitations.invite(
            player=player,
            address=form.cleaned_data["address"],
            language=form.cleaned_data["language"],
            rules=rules,
            target=form.cleaned_data["target"],
            form_key=form.cleaned_data["form_key"],
        )
    except invitations.MayNotInvite:
        form.add_error(None, _who_may_invite())
        return _new_challenge(request, form, custom, HTTPStatus.UNPROCESSABLE_ENTITY)
    except services.TooManyGames:
        form.add_error(None, too_many_games())
        return _new_challenge(request, form, custom, HTTPStatus.CONFLICT)
    except services.TakesNoChallenge:  # who asks has just left, in another browser
        raise Http404 from None
    messages.success(request, _("If we may write to this address, the invitation is on its way."))
    return redirect("games:invitations")


def _who_may_invite() -> str:
    return _(
        "Only players with an account and a confirmed email address invite by mail. "
        "Without one you can send your friend a link."
    )


def _tag(request: Request, game_id: UUID) -> str | None:
    """Return what a page that waits for an answer watches; asked only for a poll."""
    if "HX-PTag" not in request.headers:
        return None
    return selectors.challenge_state(player_of(request.user), game_id)


@never_cache
@require_safe
@says_when_broken
@ptag(_tag)
def challenge(request: Request, game_id: UUID) -> HttpResponse:
    """An offer to play: who, what and how, with a button; its link and its fate for its maker."""
    return _challenge(request, _challenge_or_404(request, game_id))


@never_cache
@require_POST
@says_when_broken
def accept(request: Request, game_id: UUID) -> HttpResponse:
    """Take the other seat with my words for the shuffle. A visitor becomes a guest by it."""
    offered = _challenge_or_404(request, game_id)
    form = WordsForm(request.POST)
    if not form.is_valid():
        notice = _("The words are one line of at most 200 characters. Please change them.")
        typed = form["words"].value() or ""
        return _challenge(request, offered, HTTPStatus.UNPROCESSABLE_ENTITY, notice, typed)
    visitor = player_of(request.user)
    try:
        with transaction.atomic():  # nobody becomes a guest for a seat that is taken
            player = visitor or create_guest(form.cleaned_data["form_key"])
            game = services.accept_challenge(
                challenge_id=game_id,
                player=player,
                words=form.cleaned_data["words"],
                words_by=form.words_by(game_id),
            )
    except services.OwnChallenge:
        notice = _("This is your own challenge: send its link to a friend.")
    except services.TooManyGames:
        notice = too_many_games()
    except services.ChallengeClosed:
        if selectors.plays_in(visitor, game_id):
            notice = _("The cards were dealt already; these words are not part of the shuffle.")
            game = selectors.game_of(player, game_id)
            return table_page(request, game, player, HTTPStatus.CONFLICT, notice)
        notice = ""  # the page says how it ended
    else:
        if visitor is None:
            keep_signed_in(request, player)
        return redirect("games:table", services.computer_reply(game).pk)
    offered, words = _challenge_or_404(request, game_id), form.cleaned_data["words"]
    return _challenge(request, offered, HTTPStatus.CONFLICT, notice, words)


@never_cache
@require_POST
@says_when_broken
def decline(request: Request, game_id: UUID) -> HttpResponse:
    """Say no to a challenge that was made to me."""
    return _end(request, game_id, services.decline_challenge)


@never_cache
@require_POST
@says_when_broken
def withdraw(request: Request, game_id: UUID) -> HttpResponse:
    """Take back a challenge of mine."""
    return _end(request, game_id, services.withdraw_challenge)


@never_cache
@require_POST
@says_when_broken
def rematch(request: Request, game_id: UUID) -> HttpResponse:
    """Offer a rematch, or come to the one that is offered to me."""
    player = player_or_404(request)
    try:
        offered = services.offer_rematch(game_id=game_id, player=player)
    except (selectors.GameNotFound, services.ChallengeClosed):
        raise Http404 from None
    except services.TooManyGames:
        return _cannot(request, too_many_games())
    except services.TakesNoChallenge:
        return _cannot(request, _("This player takes no rematch now."))
    except services.OfferedOften:
        return _cannot(request, _("You have offered this rematch often enough."))
    # Whoever pressed has agreed: the page need not ask again, only deal under the seal it shows.
    query = {"pressed": _mark_of(offered, player)}
    return redirect(reverse("games:challenge", args=[offered.pk], query=query))


def _cannot(request: Request, sentence: str) -> HttpResponse:
    status = HTTPStatus.CONFLICT
    return render(request, "games/cannot.html", {"sentence": sentence}, status=status)


def _end(request: Request, game_id: UUID, service: Callable[..., Challenge]) -> HttpResponse:
    player = player_or_404(request)
    try:
        service(challenge_id=game_id, player=player)
    except selectors.ChallengeNotFound:
        raise Http404 from None
    except services.ChallengeClosed:
        return _challenge(request, _challenge_or_404(request, game_id), HTTPStatus.CONFLICT)
    if request.POST.get("back") == "invitations":
        messages.success(request, _("You took the invitation back."))
        return redirect("games:invitations")
    return redirect("games:home")


def _values_of(data: QueryDict) -> Iterator[tuple[str, str]]:
    """The terms that a form has chosen; neither its key nor its token is one of them."""
    names = {
        "who",
        "opponent",
        "address",
        "language",
        "target",
        *(field.html_name for field in CustomRulesForm()),
    }
    for name in sorted(names & data.keys()):
        yield name, str(data[name])


def _forms_to_show(request: Request) -> tuple[ChallengeForm, CustomRulesForm]:
    """Return both forms with what the address has chosen, and a new key."""
    data = request.GET
    named = data.get("friend", data.get("opponent", ""))
    people = _people(request, named)
    if "rule_set" not in data:
        who = ChallengeForm.MAIL if "mail" in data else ChallengeForm.LINK
        initial = {"who": ChallengeForm.LIST if "open" in data else who}
        if any(str(one.public_id) == named for one in people):
            initial = {"who": ChallengeForm.PLAYER, "opponent": named}
        default = engine.RULE_SETS[engine.DEFAULT_RULE_SET]
        return ChallengeForm(initial=initial, people=people), CustomRulesForm.of(default)
    shown = data.copy()
    shown["form_key"] = str(uuid.uuid4())
    return ChallengeForm(shown, people=people), CustomRulesForm(shown)


def _people(request: Request, named: str) -> list[User]:
    """Return whom a challenge can be made to by name: friends, and the player who is ``named``.

    A friend who takes no challenges is not among them.
    """
    player = player_of(request.user)
    nobody = User.Audience.NOBODY
    known = friends_of(player) if player else User.objects.none()
    people = list(known.filter(quiet=False).exclude(may_challenge=nobody))
    if named and all(str(one.public_id) != named for one in people):
        try:
            other = player_at(UUID(named))
        except (NoSuchPlayer, ValueError):
            return people
        if other != player and (other.is_member or other.is_guest):
            people.append(other)
    return people


def _takes_no_challenges() -> str:
    return _("This player does not take challenges from you.")


def _rules(form: ChallengeForm, custom: CustomRulesForm) -> RuleSet | None:
    """Return the rules that were chosen, or ``None`` where a form is wrong."""
    if not form.is_valid():
        return None
    if not form.is_custom:
        return form.rules()
    return custom.rules() if custom.is_valid() else None


def _new_challenge(
    request: Request,
    form: ChallengeForm,
    custom: CustomRulesForm,
    status: int = HTTPStatus.OK,
    warning: str = "",
) -> HttpResponse:
    player = player_of(request.user)
    shown = custom.rules() if custom.is_bound and custom.is_valid() else None
    named = form.named_opponent() if status == HTTPStatus.OK else None
    refused = named is not None and not may_challenge(player_of(request.user), named)
    context = {
        "form": form,
        "warning": _takes_no_challenges() if refused else warning,
        "custom_form": custom,
        "custom_examples": examples_of(shown or engine.RULE_SETS[engine.DEFAULT_RULE_SET]),
        "custom_open": form.is_custom,
        "with_errors": bool(form.errors or custom.errors),
        "may_invite": addresses.has_confirmed_one(player) if player else False,
    }
    return render(request, "games/new_challenge.html", context, status=status)


@shown_again("games:new_challenge")
def _offer_again(request: HttpRequest, sentence: str, status: HTTPStatus) -> HttpResponse:
    """Show the form with what was chosen and typed."""
    people = _people(cast("Request", request), request.POST.get("opponent", ""))
    form, custom = ChallengeForm(request.POST, people=people), CustomRulesForm(request.POST)
    return _new_challenge(cast("Request", request), form, custom, status, warning=sentence)


@shown_again("games:accept")
def _accept_again(request: HttpRequest, sentence: str, status: HTTPStatus) -> HttpResponse:
    """Show the offer with the words that were typed."""

    @says_when_broken
    def page(request: Request, game_id: UUID) -> HttpResponse:
        offered = _challenge_or_404(request, game_id)
        return _challenge(request, offered, status, sentence, request.POST.get("words"))

    match = request.resolver_match
    return cast("HttpResponse", page(request, **(match.kwargs if match else {})))


def _challenge_or_404(request: Request, challenge_id: UUID) -> Challenge:
    try:
        return selectors.challenge_for(player_of(request.user), challenge_id)
    except selectors.ChallengeNotFound:
        raise Http404 from None


def _challenge(
    request: Request,
    offered: Challenge,
    status: int = HTTPStatus.OK,
    notice: str = "",
    words: str | None = None,
) -> HttpResponse:
    player = player_of(request.user)
    if offered.state == Challenge.State.ACCEPTED and selectors.plays_in(player, offered.pk):
        table = reverse("games:table", args=[offered.pk])
        return HttpResponseClientRedirect(table) if wants_board(request) else redirect(table)
    terms = terms_of(offered)
    is_open = selectors.is_open(offered, player)
    pressed = player is not None and constant_time_compare(
        request.GET.get("pressed", ""), _mark_of(offered, player)
    )
    context: dict[str, Any] = {
        "challenge": challenge_row(offered, player),
        "state": offered.state,
        "is_open": is_open,
        "end": "" if is_open else _end_of(offered, player),
        "is_for_me": selectors.is_for(offered, player),
        "sharing": _sharing(offered) if is_open else None,
        "link": request.build_absolute_uri(reverse("games:challenge", args=[offered.pk])),
        "is_custom": terms.rules.name == engine.CUSTOM,
        "old_game": offered.rematch_of_id,
        "rule_values": wording.rule_values(terms.rules),
        "aborted": selectors.count_aborted(offered.maker) if is_open else 0,
        "notice": notice,
        **deal_form(offered, words),
        "deal_at_once": is_open
        and not notice
        and request.GET.get("words") != "own"
        and (offered.maker.is_computer or pressed),
    }
    template = "games/challenge.html#offer" if wants_board(request) else "games/challenge.html"
    response = render(request, template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _sharing(offered: Challenge) -> Sharing | None:
    """Return how the link can be passed on, where whoever has it may accept."""
    if offered.opponent_id or selectors.invitation_of(offered):
        return None
    return sharing_of(offered.pk, offered.maker.shown_name, wording.terms_label(terms_of(offered)))


def _end_of(offered: Challenge, player: User | None) -> str:
    """Return in a sentence why a challenge cannot be accepted any more."""
    is_mine = player is not None and offered.maker_id == player.pk
    match offered.state:
        case Challenge.State.ACCEPTED:
            return _("Somebody else has taken this seat.")
        case Challenge.State.DECLINED if is_mine:
            return _("Your challenge was declined.")
        case Challenge.State.DECLINED:
            return _("You declined this challenge.")
        case Challenge.State.WITHDRAWN if is_mine:
            return _("You took this challenge back, or were away from the open table for long.")
        case _:
            return _("This challenge is no longer available.")


def _mark_of(offered: Challenge, player: User) -> str:
    """What shows that ``player`` pressed "Rematch": a link that others made does not deal."""
    return Signer(salt=f"pressed by {player.pk}").sign(str(offered.pk)).rpartition(":")[2]
