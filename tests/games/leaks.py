"""Looking for cards in what leaves the server, however they are written.

``cards_in`` returns every card that a text shows: as a code (7D, D7, in either case), as a symbol,
by name, or as any of these in hex or base64. Ids and keys that are random by nature have to be
masked before (``masked``), since anything can be read into them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from contextlib import suppress
from html import unescape

from django.http import HttpResponse

from games.engine import PACK, Card
from games.engine.cards import RANKS, SUITS

_SYMBOLS = "♣♦♥♠"
_RANK_NAMES = (
    "ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack",
    "queen", "king",
)  # fmt: skip
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
_RANK = "10|[2-9]|[AJQKajqk]"
_NOT_AFTER = r"(?<![0-9A-Za-z])"
_NOT_BEFORE = r"(?![0-9A-Za-z])"
_ISOLATES = re.compile("[\u2066-\u2069\u200e\u200f\u202a-\u202e\ufe0e\ufe0f]")

_HEADINGS = re.compile(r"</?h[1-6](?=[\s>])")

_CODES = re.compile(rf"{_NOT_AFTER}(?:({_RANK})([CDHScdhs])|([CDHScdhs])({_RANK})){_NOT_BEFORE}")
_WITH_SYMBOL = re.compile(rf"({_RANK})\s*([{_SYMBOLS}])|([{_SYMBOLS}])\s*({_RANK})")
_NAMED = re.compile(
    rf"\b({'|'.join(_RANK_NAMES)})[\s_-]*(?:of)?[\s_-]*({'|'.join(_SUIT_NAMES)})\b", re.IGNORECASE
)
_GLYPHS = {
    # The playing cards block of Unicode has a knight between jack and queen.
    chr(0x1F000 + base + rank + (rank > 11)): Card(suit, rank)
    for suit, base in enumerate((0xD0, 0xC0, 0xB0, 0xA0))
    for rank in range(1, 14)
}
_HEX = re.compile(rf"{_NOT_AFTER}(?:[0-9a-fA-F]{{2}}){{2,}}{_NOT_BEFORE}")
_NOTHING_BUT_CARDS = re.compile(rf"[\W_]*(?:(?:{_RANK})[CDHScdhs][\W_]*)+")
_BASE64 = re.compile(r"(?<![\w+/-])[\w+/-]{3,}={0,2}(?![\w+/=-])")


def cards_in(text: str) -> set[Card]:
    """Return the cards that ``text`` shows in any notation."""
    text = _ISOLATES.sub("", unescape(_HEADINGS.sub("<", text)))
    return {card for layer in (text, *_decoded(text)) for card in _plainly_in(layer)}


def _plainly_in(text: str) -> Iterator[Card]:
    for match in _CODES.finditer(text):
        # "as", "ah" and "ad" are words; a card would be an attribute's value or between signs.
        if match[0].islower() and match[0].isalpha() and not _is_a_value(match[0], text):
            continue
        rank, suit = match[1] or match[4], match[2] or match[3]
        yield Card(SUITS.index(suit.upper()), RANKS.index(rank.upper()) + 1)
    for rank, suit, suit_first, rank_last in _WITH_SYMBOL.findall(text):
        yield Card(_SYMBOLS.index(suit or suit_first), RANKS.index((rank or rank_last).upper()) + 1)
    for rank, suit in _NAMED.findall(text):
        yield Card(_SUIT_NAMES.index(suit.lower()), _RANK_NAMES.index(rank.lower()) + 1)
    for sign in text:
        if sign in _GLYPHS:
            yield _GLYPHS[sign]


def _is_a_value(code: str, text: str) -> bool:
    return re.search(rf"""["'=#:,+\[]{code}["',+\]#&]""", text) is not None


def _decoded(text: str) -> Iterator[str]:
    for word in set(_HEX.findall(text)):
        yield from _if_it_was_text(bytes.fromhex(word))
    for word in set(_BASE64.findall(text)):
        whole = word.rstrip("=").replace("-", "+").replace("_", "/")
        with suppress(binascii.Error):
            yield from _if_it_was_text(base64.b64decode(whole + "=" * (-len(whole) % 4)))


def _if_it_was_text(decoded: bytes) -> Iterator[str]:
    """Few words are readable when decoded; of the short ones only what is nothing but cards."""
    if all(32 <= byte < 127 for byte in decoded):
        text = decoded.decode("ascii")
        if len(text) > 12 or _NOTHING_BUT_CARDS.fullmatch(text):
            yield text


def notations_of(card: Card) -> list[str]:
    """Return ways to write a card that ``cards_in`` has to find, in the markup of a page."""
    rank, suit = RANKS[card.rank - 1], SUITS[card.suit]
    symbol = _SYMBOLS[card.suit]
    code = rank + suit
    name = f"{_RANK_NAMES[card.rank - 1]} of {_SUIT_NAMES[card.suit]}"
    return [
        f'<use href="/static/img/cards.svg#{code}"/>',
        f'<li data-card="{code}">',
        f'<li data-card="{code.lower()}">',
        f'<li id="card-{suit}{rank}">',
        f'value="{suit.lower()}{rank.lower()}"',
        f"You played {rank}{symbol}.",
        f"You played \u2066{rank}{symbol}\u2069.",
        f"You played {rank}&#{ord(symbol)};.",
        f"{symbol}{rank}",
        f"Mona played {name} and took nothing.",
        name.upper(),
        name.replace(" ", "_"),
        f'"cards": ["{code}", "x"]',
        f'data-x="{code.encode().hex()}"',
        f'data-x="{f"{code} {code}".encode().hex().upper()}"',
        f'data-x="{base64.b64encode(code.encode()).decode()}"',
        f'data-x="{base64.urlsafe_b64encode(f"[{code},{code}]".encode()).decode().rstrip("=")}"',
        next(sign for sign, shown in _GLYPHS.items() if shown == card),
    ]


# What a response may have that is random and says nothing: each is named by where it stands.
_RANDOM = [
    r'(?<=name="csrfmiddlewaretoken" value=")\w+',
    r'(?<=name="move_id" value=")[\w-]+',
    r'(?<=name="form_key" value=")[\w-]+',
    r'(?<=name="proposal" value=")[\w:-]+',
    r'(?<=name="words" type="text" maxlength="200" dir="auto" value=")\w+',
    r'(?<=<code dir="ltr">)[0-9a-f]{64}',
    r'(?<=data-anchor-of=")[0-9a-f-]{36}',
    r'(?<=data-anchor=")[0-9a-f]{64}',
    r'(?<=data-game=")[0-9a-f-]{36}',
    r"(?<=/games/)[0-9a-f-]{36}",
    r"(?<=/challenges/)[0-9a-f-]{36}",
    r"(?<=\?after=)[0-9a-f-]{36}",
    r"(?<='nonce-)[\w+/=-]+",
    r'(?<="game_id": ")[0-9a-f-]{36}',
    r'(?<="anchor": ")[0-9a-f]{64}',
    r'(?<="words_sha256": ")[0-9a-f]{64}',
    r'(?<="secret": ")[0-9a-f]{64}',
    r"(?<=X-Request-ID: )[0-9a-f]{32}",
    r"(?<=basra-session=)\w+",
    r"(?<=basra-csrf=)\w+",
    r"(?<=expires=)[\w,: -]+",
    r"(?<=Expires: )[\w,: -]+",
    r"(?<=Content-Length: )\d+",
    r"(?<=:\d\d\.)\d{3,6}",  # a moment's fraction of a second
]
_MASK = re.compile("|".join(_RANDOM))


def sent_by(response: HttpResponse) -> str:
    """Return all that a response sends: status, headers, cookies and body."""
    headers = [f"{name}: {value}" for name, value in response.items()]
    cookies = [cookie.OutputString() for cookie in response.cookies.values()]
    return "\n".join([str(response.status_code), *headers, *cookies, response.content.decode()])


def masked(text: str) -> str:
    """Return ``text`` without what is random by nature: tokens, ids, seals, nonces."""
    return _MASK.sub("…", text)


_LONG_HEX = re.compile(r"[0-9a-fA-F]{64,}")
_LONG_BASE64 = re.compile(r"[\w+/-]{40,}", re.ASCII)
_LONG_NUMBER = re.compile(r"\d{60,}")


def secrets_in(text: str, secrets: set[bytes]) -> set[bytes]:
    """Return those of some 32-byte ``secrets`` that ``text`` has, in hex, base64 or as a number."""
    readings = [
        bytes.fromhex(word[start : start + (len(word) - start) // 2 * 2])
        for word in _LONG_HEX.findall(text)
        for start in range(2)
    ]
    for word in _LONG_BASE64.findall(text.replace("-", "+").replace("_", "/")):
        for start in range(4):
            part = word[start : len(word) - ((len(word) - start) % 4 == 1)]
            readings.append(base64.b64decode(part + "=" * (-len(part) % 4)))
    readings += [
        int(word).to_bytes(len(word) // 2, order)
        for word in _LONG_NUMBER.findall(text)
        for order in ("big", "little")
    ]
    return {
        reading[start : start + 32] for reading in readings for start in range(len(reading) - 31)
    } & secrets


def forms_of(secret: bytes) -> list[str]:
    """Return ways to write a secret that ``secrets_in`` has to find."""
    return [
        secret.hex(),
        secret.hex().upper(),
        f"x{(b'ab' + secret).hex()}f",
        base64.b64encode(secret).decode(),
        base64.urlsafe_b64encode(b"a" + secret + b"bc").decode(),
        base64.b64encode(b"ab" + secret).decode().rstrip("="),
        str(int.from_bytes(secret)),
    ]


NUMBERS_THAT_ARE_NO_CARDS = {
    "tabindex", "data-version", "data-waiting", "data-key", "data-for", "maxlength", "data-error",
    "width", "height", "content", "lang",
}  # fmt: skip


def numbers_in_odd_places(page: str) -> set[tuple[str, str]]:
    """Return attributes whose value is a number up to 51 but that are not known to be harmless."""
    found = set(re.findall(r'([\w-]+)="(\d{1,2})"', page))
    harmless = set(re.findall(r'<li (value)="(\d{1,2})"', page)) | {
        ("value", number)
        for number in re.findall(
            r'name="(?:version|round|target)"[^>]*value="(\d{1,3})"|<option value="(\d{1,3})"', page
        )
        for number in number
    }
    return {
        (name, number)
        for name, number in found - harmless
        if name not in NUMBERS_THAT_ARE_NO_CARDS and int(number) < len(PACK)
    }
