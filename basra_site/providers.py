"""Which other sites people can sign in with: from the environment to allauth's settings.

A site is offered when its id and secret are set. What is here is all that a further one of
allauth's needs: see "Signing in with another site" in docs/operations.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from basra_site.env import Env

FACEBOOK_GRAPH_VERSION = "v24.0"


@dataclass
class Providers:
    """The providers for allauth, the apps they need, and where a form may lead for them."""

    settings: dict[str, Any] = field(default_factory=dict)
    apps: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    facebook_friends: bool = False

    def add(self, name: str, origin: str, **settings: Any) -> None:
        """Offer a provider whose page for signing in is at ``origin``."""
        self.settings[name] = settings
        self.origins.append(origin)


def from_environment(env: Env, *, development: bool) -> Providers:
    """Return what the environment offers, and report what is half configured to ``env``."""
    found = Providers()
    _facebook(env, found, development=development)
    if app := _app(env, "GOOGLE"):
        found.add(
            "google",
            "https://accounts.google.com",
            APPS=[app],
            SCOPE=["profile", "email"],
            OAUTH_PKCE_ENABLED=True,
        )
    for name in env.words("BASRA_SIGN_IN_PROVIDERS", ""):
        _further(env, name, found)
    return found


def _facebook(env: Env, found: Providers, *, development: bool) -> None:
    version = env.text("FACEBOOK_GRAPH_VERSION", FACEBOOK_GRAPH_VERSION)
    if not re.fullmatch(r"v[0-9]{1,3}\.[0-9]{1,2}", version):
        env.problem(f"set FACEBOOK_GRAPH_VERSION to a version like {FACEBOOK_GRAPH_VERSION}")
    friends = env.boolean("FACEBOOK_FRIENDS", default=False)
    stand_in = env.text("FACEBOOK_ORIGIN", "").rstrip("/")
    if stand_in and not development:
        env.problem("leave FACEBOOK_ORIGIN unset: it is for a stand-in, in development only")
    if not (app := _app(env, "FACEBOOK")):
        return
    found.facebook_friends = friends
    settings: dict[str, Any] = {
        "APPS": [app],
        # The dialog by redirects; no script of Facebook's on any page.
        "METHOD": "oauth2",
        "VERSION": version,
        "SCOPE": ["public_profile", "email", *(["user_friends"] if friends else [])],
        "FIELDS": ["id", "name", "email"],
        # Facebook does not say whether an address was ever confirmed.
        "VERIFIED_EMAIL": False,
    }
    # On its way to the dialog Facebook may send a browser from one of its hosts to another.
    origin = "https://*.facebook.com"
    if stand_in:
        origin = stand_in
        app["name"] = "Facebook (local stand-in)"
        settings["AUTHORIZE_URL"] = f"{stand_in}/{version}/dialog/oauth"
        settings["GRAPH_API_URL"] = f"{stand_in}/{version}"
    found.add("facebook", origin, **settings)


def _further(env: Env, name: str, found: Providers) -> None:
    package = f"allauth.socialaccount.providers.{name}"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or find_spec(package) is None:
        env.problem("set BASRA_SIGN_IN_PROVIDERS to names of allauth's providers, like github")
        return
    upper = name.upper()
    origin = env.text(f"{upper}_ORIGIN", "")
    if not re.fullmatch(r"https://[a-z0-9.-]+(:[0-9]+)?", origin):
        env.problem(
            f"set {upper}_ORIGIN to where its page for signing in is, like https://{name}.com"
        )
    app = _app(env, upper)
    if app is None:
        env.problem(f"set {upper}_CLIENT_ID and {upper}_CLIENT_SECRET")
        return
    found.apps.append(package)
    found.add(name, origin, APPS=[app])


def _app(env: Env, name: str) -> dict[str, str] | None:
    """Return the app that is registered at a provider; both of its values are set, or neither."""
    client_id, secret = (
        env.text(f"{name}_CLIENT_ID", ""),
        env.secret(f"{name}_CLIENT_SECRET", ""),
    )
    if bool(client_id) != bool(secret):
        env.problem(f"set {name}_CLIENT_ID and {name}_CLIENT_SECRET both or neither")
    return {"client_id": client_id, "secret": secret} if client_id and secret else None
