"""Write `accounts/look_alikes.py` from Unicode's list of confusable characters.

    python -m tools.look_alikes confusables.json > accounts/look_alikes.py

The list is read as the PyPI package confusable-homoglyphs has it (3.3.1, MIT licence; the data is
Unicode's `confusables.txt`, UTS 39).
"""

from __future__ import annotations

import json
import string
import sys
import unicodedata
from pathlib import Path

_LETTERS_AND_DIGITS = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd")
_ASCII = string.ascii_lowercase + string.digits
# What a reader takes for one, although all are ASCII.
_ONE = ("il1", "o0")
# What Unicode's list leaves out: letters of Arabic and Persian that differ at a word's end alone.
_ALSO = ("\u064a\u0649", "\u064a\u06cc", "\u0643\u06a9", "\u0627\u0671")
_DOCSTRING = '''"""Letters that look like another: each stands under the one it is taken for.

Made by `python -m tools.look_alikes` from Unicode's list of confusable characters (UTS 39); it is
not edited by hand. Case is folded and marks are taken off before it is asked.
"""
'''


def base_of(text: str) -> str:
    """Return what is left of a text when case is folded and marks are taken off."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(one for one in apart if unicodedata.category(one)[0] in "LN")


def is_composed(text: str) -> bool:
    """Return whether a name keeps a text as it is."""
    return unicodedata.normalize("NFKC", text) == text


def may_stand_in_a_name(character: str) -> bool:
    """Return whether a name keeps a character as it is, and it is a letter or a digit."""
    return is_composed(character) and unicodedata.category(character) in _LETTERS_AND_DIGITS


class Looks:
    """Which characters look the same: no two of the ASCII letters and digits but ``_ONE``."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        for one in _ONE + _ALSO:
            for other in one[1:]:
                self.parents[other] = one[0]

    def find(self, character: str) -> str:
        """Return the character under which one stands."""
        while character in self.parents:
            character = self.parents[character]
        return character

    def join(self, a: str, b: str) -> None:
        """Let two be one, unless each looks like another ASCII character already."""
        a, b = sorted((self.find(a), self.find(b)), key=lambda one: (one not in _ASCII, one))
        if a != b and b not in _ASCII:
            self.parents[b] = a


def table_of(confusables: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    """Return what each character is taken for, where that is another."""
    looks = Looks()
    of_small_letters: list[tuple[str, str]] = []
    of_capitals: list[tuple[str, str]] = []
    made_of_several: dict[str, str] = {}
    for character, similar in sorted(confusables.items()):
        if len(character) != 1 or not may_stand_in_a_name(character):
            continue
        for other in (base_of(one["c"]) for one in similar if is_composed(one["c"])):
            base = base_of(character)
            if len(base) != 1 or not other or other == base:
                continue
            if len(other) == 1 and may_stand_in_a_name(other):
                is_small = base == character
                (of_small_letters if is_small else of_capitals).append((base, other))
            elif len(base) == 1 and base not in _ASCII and set(other) <= set(_ASCII):
                made_of_several[base] = other
    # A small letter's own looks go before those of its capital.
    for pair in of_small_letters + of_capitals:
        looks.join(*pair)
    table = {one: looks.find(one) for one in sorted(looks.parents)}
    for one, several in made_of_several.items():
        if table.get(one, one) not in _ASCII:
            table[one] = "".join(map(looks.find, several))
    return dict(sorted(table.items()))


def main() -> None:
    """Write the module to standard output."""
    table = table_of(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    by_look: dict[str, str] = {}
    for one, look in table.items():
        by_look[look] = by_look.get(look, "") + one
    print(_DOCSTRING + "\n# fmt: off\nALIKE = {")
    for look, those in sorted(by_look.items()):
        parts = [ascii(those[at : at + 9]) for at in range(0, len(those), 9)]
        indent = " " if len(parts) == 1 else "\n        "
        print(f"    {look!a}:{indent}{indent.join(parts)},".replace("'", '"'))
    print("}")


if __name__ == "__main__":
    main()
