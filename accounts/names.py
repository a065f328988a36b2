"""Names: made up for guests, and cleaned when people choose their own."""

from __future__ import annotations

import re
import secrets
import unicodedata
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from .look_alikes import ALIKE

if TYPE_CHECKING:
    from .models import User

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
        "staff", "support", "you", "null",
        "simsim", "ammsayed", "elusta", "سمسم", "عمسيد", "الاسطي",
        "formerplayer", "deletedplayer", "لاعبسابق", "لاعبمحذوف",
    }
)  # fmt: skip
# In no word of a name: it would speak for the house, or for a site that one signs in by.
_RESERVED_WORDS = frozenset(
    {
        "basra", "admin", "administrator", "moderator", "staff", "support", "system", "official",
        "facebook", "google", "simsim", "الدعم", "الاداره", "المشرف", "سمسم",
    }
)  # fmt: skip
_BETWEEN_WORDS = re.compile(r"[\s._'-]+")
_LOOKS_LIKE = str.maketrans({one: look for look, those in ALIKE.items() for one in those})
# Greek capitals that look like another Latin letter than their small ones.
_CAPITALS = str.maketrans("ΝΗΥ", "NHY")
# Marks that embellish a letter: Latin, Greek, Cyrillic, Hebrew and Arabic are read without them.
# Those of other scripts are letters of their own to a reader.
_EMBELLISH = (
    *((0x0300, 0x036F), (0x0483, 0x0489), (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x065F)),
    *((0x0670, 0x0670), (0x06D6, 0x06ED), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF)),
    (0xFE20, 0xFE2F),
)
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
# Mail programs make a link of it.
_DOT_INSIDE_A_WORD = re.compile(r"(?<=[^\s._'-])\.(?=[^\s._'-])")


def isolated_name(name: str) -> str:
    """Return a name for the middle of a line of text, in whatever direction it is written."""
    return f"\u2068{name}\u2069"


def made_up_name(digits: int = 3) -> str:
    """Return a readable name for a guest, such as "Golden Ibis 417". Not checked for uniqueness."""
    first, second = secrets.choice(_FIRST), secrets.choice(_SECOND)
    return f"{first} {second} {secrets.randbelow(9 * 10 ** (digits - 1)) + 10 ** (digits - 1)}"


def clean_name(text: str) -> str:
    """Return ``text`` as a name that looks like what it is, or raise ``ValidationError``.

    Compatibility-composed (NFKC), single spaces, 1 to 24 characters, only letters, marks, digits
    and ``. _ - '``; no control, direction or invisible characters; at least one letter or digit;
    marks on letters only, and not in heaps; no dot inside a word, as a web address has.
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
    if _DOT_INSIDE_A_WORD.search(name):
        raise ValidationError(_("Please put a space after a dot: a name is no web address."))
    words = {skeleton_of(word) for word in _BETWEEN_WORDS.split(name) if word}
    if skeleton_of(name) in _OF_THE_HOUSE or words & _WORDS_OF_THE_HOUSE:
        raise ValidationError(_("This name is the house's own. Please take another."))
    if not _in_one_writing_system(name):
        raise ValidationError(_("A name is written in one alphabet."))
    if not _marks_sit_on_letters(name):
        raise ValidationError(_("There are too many signs above or below a letter of this name."))
    if not any(unicodedata.category(character)[0] in "LN" for character in name):
        raise ValidationError(_("A name needs at least one letter or digit."))
    return name


def skeleton_of(name: str) -> str:
    """Return what two names have in common that are one name to a reader.

    Case is folded, letters that look the same are one (UTS 39), and ornaments are left out: dots,
    spaces, hyphens, apostrophes, and the marks of scripts that are read without them.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    bare = "".join(one for one in folded if _is_more_than_ornament(one))
    return bare.translate(_LOOKS_LIKE).replace("rn", "m")


def _is_more_than_ornament(character: str) -> bool:
    if unicodedata.category(character)[0] == "M":
        return not any(first <= ord(character) <= last for first, last in _EMBELLISH)
    return character.isalnum()


_OF_THE_HOUSE = frozenset(map(skeleton_of, _RESERVED))
_WORDS_OF_THE_HOUSE = frozenset(map(skeleton_of, _RESERVED_WORDS))


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


def name_digest(name: str) -> str:
    """Return what is kept of a name that nobody may take for a while: no name can be read in it."""
    return _digest(name, settings.SECRET_KEY)


def _digest(name: str, secret: str) -> str:
    hashed = salted_hmac("accounts.names", skeleton_of(name), secret, algorithm="sha256")
    return hashed.hexdigest()


def is_taken(name: str, *, but: User | None = None) -> bool:
    """Return whether somebody other than ``but`` has a name that looks like ``name``.

    Or had it until a short time ago. Of two who ask at once both may be told no: that the database
    keeps them apart is for the caller to notice (``IntegrityError``).
    """
    from .models import RetiredName, User  # they ask this module for the skeleton

    looks = {skeleton_of(name), skeleton_of(name.translate(_CAPITALS))}
    others = User.objects.filter(skeleton__in=looks)
    if but is not None:
        if but.skeleton == skeleton_of(name):
            return False
        others = others.exclude(pk=but.pk)
    secrets_ = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    digests = [_digest(name, secret) for secret in secrets_]
    retired = RetiredName.objects.filter(digest__in=digests, until__gt=timezone.now())
    return others.exists() or retired.exists()


def suggest(text: str) -> str:
    """Return a name for somebody who is called ``text`` elsewhere: clean, and free just now.

    What cannot be made a name of becomes a made-up one.
    """
    composed = unicodedata.normalize("NFKC", text)
    kept = "".join(one if _may_stand_in_a_name(one) else " " for one in composed)
    stem = " ".join(_DOT_INSIDE_A_WORD.sub(" ", kept).split())
    for number in ("", *(f" {n}" for n in range(2, 10))):
        shortened = stem[: MAX_LENGTH - len(number)].strip() + number
        try:
            name = clean_name(shortened)
        except ValidationError:
            break
        if not is_taken(name):
            return name
    while is_taken(name := made_up_name(6)):
        pass
    return name
