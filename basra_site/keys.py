"""`python -m basra_site.keys` prints a new secret key and a new card key."""

import secrets
import sys

from cryptography.fernet import Fernet


def fresh_settings() -> dict[str, str]:
    """Return new random values for the settings that are secrets."""
    return {
        "SECRET_KEY": secrets.token_urlsafe(50),
        "BASRA_CARD_KEYS": Fernet.generate_key().decode("ascii"),
    }


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}={value}\n" for name, value in fresh_settings().items())
