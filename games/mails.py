"""The mails that games send."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.mails import Letter, letter, link
from accounts.models import Mail
from accounts.outbox import composer

from . import wording
from .services import invitations
from .snapshot import terms_of


@composer(invitations.MAIL)
def invitation(mail: Mail) -> Letter | None:
    """Write to somebody whom a player has invited, unless it is not to be sent."""
    found = invitations.sent_now(mail.content["challenge"])
    if found is None:
        return None
    challenge, token = found
    terms = terms_of(challenge)
    digest = challenge.invitation.address_digest
    never = link(reverse("games:never", args=[invitations.never_again(digest)]))
    context = {
        "name": challenge.maker.shown_name,
        "terms": wording.terms_label(terms),
        "difference": wording.rule_set_difference(terms.rules),
        "expires_at": challenge.expires_at,
        "link": link(reverse("games:invitation", args=[token])),
        "never": never,
    }
    return letter(
        "invitation",
        context,
        language=mail.language,
        subject=_("An invitation to play Basra"),
        headers={
            "List-Unsubscribe": f"<{never}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
    )
