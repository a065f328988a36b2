"""Signing in by another site for the first time, and Facebook's pages here."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from . import facebook, first_sign_in
from .mails import link
from .models import FacebookRequest

if TYPE_CHECKING:
    from collections.abc import Callable


def begins_as_we_say(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let a sign-in by another site begin or end by GET and POST, and ask it for no more than set.

    A HEAD would begin one too. allauth takes more to ask for from the address: a link that
    somebody else has made could have a player grant it, or grant another app.
    """

    @wraps(view)
    def begin(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if _NOT_TAKEN & request.GET.keys():
            query = request.GET.copy()
            for name in _NOT_TAKEN & query.keys():
                del query[name]
            request.GET = query  # type: ignore[assignment]
        return view(request, *args, **kwargs)

    return require_http_methods(["GET", "POST"])(begin)


_NOT_TAKEN = frozenset({"scope", "auth_params"})

start = begins_as_we_say(OAuth2LoginView.adapter_view(facebook.FacebookAdapter))
callback = require_GET(OAuth2CallbackView.adapter_view(facebook.FacebookAdapter))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm, by the link in a mail, that an address belongs to an account. Signs nobody in."""
    found = first_sign_in.read_token(token)
    if found is None:
        return render(request, "accounts/confirm_address.html", {}, status=404)
    user, address, wanted = found
    if request.method != "POST":
        context = {"whose": user.name, "address": address}
        return render(request, "accounts/confirm_address.html", context)
    if not first_sign_in.confirm(request, user, address):
        return render(request, "accounts/confirm_address.html", {}, status=404)
    return redirect(wanted or "games:home")


@csrf_exempt
@never_cache
@require_POST
def deauthorise(request: HttpRequest) -> HttpResponse:
    """Hear from Facebook that somebody has removed the app. It sends no cookie and no token."""
    return _acted_on(request, facebook.deauthorise)


@csrf_exempt
@never_cache
@require_POST
def delete(request: HttpRequest) -> HttpResponse:
    """Hear from Facebook that somebody wants deleted what it told of them."""
    return _acted_on(request, facebook.delete_data)


def _acted_on(
    request: HttpRequest, act: Callable[[facebook.SignedRequest], FacebookRequest]
) -> HttpResponse:
    secret = facebook.secret()
    if secret is None:
        raise Http404
    text = request.POST.get("signed_request", "")
    try:
        said = facebook.read_signed_request(text, secret, timezone.now())
    except facebook.Unbelievable as why:
        return JsonResponse({"error": f"bad signed_request: {why}"}, status=400)
    code = act(said).confirmation_code
    return JsonResponse(
        {"url": link(reverse("accounts:facebook_status", args=[code])), "confirmation_code": code}
    )


@never_cache
@require_http_methods(["GET", "HEAD"])
def status(request: HttpRequest, code: str) -> HttpResponse:
    """Tell what became of a request, to whoever has its code; names nobody."""
    row = get_object_or_404(FacebookRequest.objects.select_related("user"), confirmation_code=code)
    user = row.user
    context = {
        "asked": row,
        "is_deletion": row.kind == FacebookRequest.Kind.DELETE,
        "has_account": user is not None,
        "closes_at": user.closes_at if user else None,
        "is_linked": user is not None
        and SocialAccount.objects.filter(user=user, provider=facebook.PROVIDER).exists(),
    }
    return render(request, "accounts/facebook_status.html", context)
