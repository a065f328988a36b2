"""Passing on the link to a challenge: plain links, and what a preview of it shows."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode
from uuid import UUID

from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.names import isolated_name

PICTURE = "img/share.png"


@dataclass(frozen=True, slots=True)
class Sharing:
    """The link to a challenge from outside, its preview, and (name, address) of ways to send it."""

    link: str
    title: str
    terms: str
    picture: str
    ways: tuple[tuple[str, str], ...]


def sharing_of(challenge_id: UUID, name: str, terms: str) -> Sharing:
    """Return how the challenge of ``name`` is passed on, without anybody's script."""
    link = f"{settings.SITE_URL}{reverse('games:challenge', args=[challenge_id])}"
    title = _("%(name)s offers you a game of Basra") % {"name": isolated_name(name)}
    text = f"{title}: {link}"
    app = settings.SOCIALACCOUNT_PROVIDERS.get("facebook", {}).get("APPS", [])
    ways = [
        (_("WhatsApp"), f"https://wa.me/?{_query(text=text)}"),
        (_("Messenger"), f"fb-messenger://share/?{_query(link=link)}"),
        (_("Facebook"), f"https://www.facebook.com/sharer/sharer.php?{_query(u=link)}"),
        (_("Email"), f"mailto:?{_query(subject=title, body=text)}"),
    ]
    if app:
        query = _query(app_id=app[0]["client_id"], link=link, redirect_uri=link)
        ways.insert(
            2, (_("Messenger on a computer"), f"https://www.facebook.com/dialog/send?{query}")
        )
    return Sharing(link, title, terms, f"{settings.SITE_URL}{static(PICTURE)}", tuple(ways))


def _query(**values: str) -> str:
    # Mail programs take a plus for a plus.
    return urlencode(values, quote_via=quote)
