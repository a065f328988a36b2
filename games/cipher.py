"""Encryption of what a database dump must not show: hands, stock and the sealed tips.

The keys (``settings.CARD_KEYS``) live outside the database. The first one encrypts; all of them
decrypt, so a key is changed by putting the new one in front (docs/operations.md).
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Undecipherable(Exception):
    """Stored text that none of the keys opens, or that belongs to another row."""


@lru_cache(maxsize=4)
def _ring(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def encrypt(value: Any, *, bound_to: str) -> bytes:
    """Return the JSON value encrypted and authenticated, bound to the row named ``bound_to``."""
    plain = json.dumps([bound_to, value], separators=(",", ":")).encode()
    return _ring(tuple(settings.CARD_KEYS)).encrypt(plain)


def decrypt(token: bytes | memoryview, *, bound_to: str) -> Any:
    """Return the value that was encrypted for ``bound_to``; raise ``Undecipherable`` otherwise."""
    try:
        owner, value = json.loads(_ring(tuple(settings.CARD_KEYS)).decrypt(bytes(token)))
    except (InvalidToken, ValueError, TypeError) as error:
        raise Undecipherable(f"cannot decipher the hidden part of {bound_to}") from error
    if owner != bound_to:
        raise Undecipherable(f"the hidden part of {bound_to} belongs to another row")
    return value
