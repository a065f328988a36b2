"""What every answer carries."""

from __future__ import annotations

import os
import re

import pytest
from django.conf import settings
from django.test import Client
from django.utils.csp import CSP

pytestmark = pytest.mark.django_db

ADDRESSES = ["/", "/there-is-nothing-here", "/livez"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_policy_allows_nothing_inline(client: Client, address: str) -> None:
    policy = client.get(address).headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "form-action 'self'" in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_other_security_headers_are_there(client: Client, address: str) -> None:
    headers = client.get(address).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_no_directive_of_the_policy_is_loose() -> None:
    for directive, sources in settings.SECURE_CSP.items():
        assert isinstance(sources, list)
        # A form leads on to the sites that one can sign in by, and to no other.
        others = {os.environ["FACEBOOK_ORIGIN"]} if directive == "form-action" else set()
        assert set(sources) <= {CSP.NONE, CSP.SELF} | others


def test_each_request_gets_an_id_of_our_own(client: Client) -> None:
    ids = [
        client.get("/", headers={"X-Request-ID": "mine"}).headers["X-Request-ID"] for _ in range(2)
    ]
    assert ids[0] != ids[1]
    assert all(re.fullmatch(r"[0-9a-f]{32}", each) for each in ids)
