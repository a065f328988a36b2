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
_RESERVED = frozenset(
    {
        "thecomputer", "computer", "basra", "basrateam", "admin", "administrator", "moderator",
        "staff", "support", "you",
        "simsim", "ammsayed", "elusta", "سمسم", "عمسيد", "الاسطي",
    }
)  # fmt: skip
# Letters that look like another, in the alphabets that a whole name could be written in.
_LOOKS_LIKE = str.maketrans(
    "ıl10аеорсухіјѕԁӏкмтвнѵԝαοιυνρτκμηχىیٱɪꜱɑᴇʟᴜᴛᴀᴍᴅʏ",
    "iiioaeopcyxijsdikmtbhvwaoiuvptkmnxيياisaeiutamdy",
)  # fmt: skip
# Writing systems that one language mixes; any other mixture makes look-alikes.
_WRITTEN_TOGETHER = frozenset({"CJK", "HIRAGANA", "KATAKANA"})

# The Unicode database calls these letters or marks, yet they show nothing: with one of them two
# names would look the same.
_INVISIBLE = frozenset(
    [
        *"\u034f\u0640\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0\U00016fe4",
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    ]
)
# As many as any language puts on one letter; more would run over the lines around the name.
_MOST_MARKS = 3
_ALLOWED_PUNCTUATION = frozenset("._-'")


def made_up_name(digits: int = 3) -> str:
    """Return a readable name for a guest, such as "Golden Ibis 417". Not checked for uniqueness."""
    first, second = secrets.choice(_FIRST), secrets.choice(_SECOND)
    return f"{first} {second} {secrets.randbelow(9 * 10 ** (digits - 1)) + 10 ** (digits - 1)}"


def clean_name(text: str) -> str:
    """Return ``text`` as a name that looks like what it is, or raise ``ValidationError``.

    Compatibility-composed (NFKC), single spaces, 1 to 24 characters, only letters, marks, digits
    and ``. _ - '``; no control, direction or invisible characters; at least one letter or digit;
    marks on letters only, and not in heaps.
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
    if _without_ornament(name) in _OF_THE_HOUSE:
        raise ValidationError(_("This name is the house's own. Please take another."))
    if not _in_one_writing_system(name):
        raise ValidationError(_("A name is written in one alphabet."))
    if not _marks_sit_on_letters(name):
        raise ValidationError(_("There are too many signs above or below a letter of this name."))
    if not any(unicodedata.category(character)[0] in "LN" for character in name):
        raise ValidationError(_("A name needs at least one letter or digit."))
    return name


def _without_ornament(name: str) -> str:
    """Return the bare letters and digits of a name, for comparing it with the house's own.

    Letters that look the same are one.
    """
    folded = unicodedata.normalize("NFKD", name.casefold()).translate(_LOOKS_LIKE)
    return "".join(character for character in folded if character.isalnum())


_OF_THE_HOUSE = frozenset(map(_without_ornament, _RESERVED))


def _in_one_writing_system(name: str) -> bool:
    systems = {
        unicodedata.name(character, "").partition(" ")[0]
        for character in name
        if unicodedata.category(character)[0] == "L"
    }
    return len(systems - _WRITTEN_TOGETHER) + bool(systems & _WRITTEN_TOGETHER) <= 1


def _may_stand_in_a_name(character: str) -> bool:
    if character in _INVISIBLE:
        return False
    return (
        character == " "
        or character in _ALLOWED_PUNCTUATION
        or unicodedata.category(character) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd")
    )


def _marks_sit_on_letters(name: str) -> bool:
    marks = _MOST_MARKS  # none may come before the first letter
    for character in name:
        category = unicodedata.category(character)
        if category[0] == "M":
            marks += 1
            if marks > _MOST_MARKS:
                return False
        else:
            marks = 0 if category[0] in "LN" else _MOST_MARKS
    return True
