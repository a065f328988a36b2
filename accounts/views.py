from __future__ import annotations

from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from .forms import SettingsForm
from .guests import player_of


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def name(request: HttpRequest) -> HttpResponse:
    """Show and change my name and settings. A visitor has none yet and is sent home."""
    player = player_of(request.user)
    if player is None:
        if request.method == "POST":
            raise Http404  # it says that this browser is not known any more
        return redirect("games:home")
    shown = player.name
    form = SettingsForm(request.POST or None, instance=player)
    status = 200
    if request.method == "POST":
        if form.is_valid():
            try:
                form.save()
            except IntegrityError:  # somebody took it between the check and the save
                form.add_error("name", form.name_taken())
            else:
                return redirect("games:home")
        status = 422
        player.name = shown  # the header must not show a name that was refused
    return render(request, "accounts/name.html", {"form": form, "name": shown}, status=status)
