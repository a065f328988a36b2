"""Names: made up for guests, and cleaned when people choose their own."""

from __future__ import annotations

import secrets
import unicodedata

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

MAX_LENGTH = 24

_FIRST = (
    "Amber", "Brave", "Bright", "Calm", "Clever", "Copper", "Desert", "Gentle", "Golden", "Happy",
    "Honey", "Ivory", "Jolly", "Kind", "Lucky", "Mint", "Noble", "Olive", "Patient", "Quick",
    "Quiet", "River", "Silver", "Swift", "Sunny", "Velvet", "Warm", "Wise",
)  # fmt: skip
_SECOND = (
    "Acacia", "Camel", "Crane", "Date", "Dove", "Falcon", "Fennec", "Gazelle", "Heron", "Hoopoe",
    "Ibis", "Jasmine", "Kestrel", "Lantern", "Lotus", "Oryx", "Palm", "Papyrus", "Pearl", "Reed",
    "Sail", "Sparrow", "Star", "Stork", "Swallow", "Tamarind", "Turtle", "Wagtail",
)  # fmt: skip

# Nobody may pass for the house.
_RESERVED = frozenset({"the computer", "computer", "basra", "admin", "administrator", "staff"})

# Letters to the eye's blind spot: the Unicode database calls these letters, yet they show nothing.
_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
_ALLOWED_PUNCTUATION = frozenset("._-'")


def made_up_name() -> str:
    """Return a readable name for a guest, such as "Golden Ibis 417". Not checked for uniqueness."""
    first, second = secrets.choice(_FIRST), secrets.choice(_SECOND)
    return f"{first} {second} {secrets.randbelow(900) + 100}"


def clean_name(text: str) -> str:
    """Return ``text`` as a name that looks like what it is, or raise ``ValidationError``.

    Compatibility-composed (NFKC), single spaces, 1 to 24 characters, only letters, marks, digits
    and ``. _ - '``; no control, direction or invisible characters; at least one letter or digit.
    """
    name = " ".join(unicodedata.normalize("NFKC", text).split(" ")).strip()
    name = " ".join(part for part in name.split(" ") if part)
    if not name:
        raise ValidationError(_("Please type a name."))
    if len(name) > MAX_LENGTH:
        raise ValidationError(
            _("A name has at most %(count)d characters."), params={"count": MAX_LENGTH}
        )
    if not all(_may_stand_in_a_name(character) for character in name):
        raise ValidationError(
            _("A name is made of letters, digits, spaces and the signs . _ - ' only.")
        )
    if name.casefold() in _RESERVED:
        raise ValidationError(_("This name is the house's own. Please take another."))
    if not any(unicodedata.category(character)[0] in "LN" for character in name):
        raise ValidationError(_("A name needs at least one letter or digit."))
    return name


def _may_stand_in_a_name(character: str) -> bool:
    if character in _INVISIBLE_LETTERS:
        return False
    return (
        character == " "
        or character in _ALLOWED_PUNCTUATION
        or unicodedata.category(character) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd")
    )
