"""A stand-in for Facebook's dialog and Graph API, on this machine alone: for tests and `make play`.

It speaks Facebook's protocol, checks what Facebook checks, and can be told to misbehave:

    python -m tools.facebook_stand_in --port 8032 --app-id 1 --secret s --site http://localhost:8000

Without arguments it takes them from `FACEBOOK_ORIGIN`, `FACEBOOK_CLIENT_ID`,
`FACEBOOK_CLIENT_SECRET` and `BASRA_URL`. `/` shows who there is, and sends the site what Facebook
sends when somebody removes the app or wants their data deleted. What is posted to `/_told` as JSON
changes it: `{"misbehave": {"token": "down"}}` (see `MISBEHAVIOURS`), `{"people": {"1": {"name":
"Mona", "email": "mona@example.org", "friends": ["2"]}}}`, `{"forget": true}`; a GET there shows
what was asked of it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

MISBEHAVIOURS = {
    "down": "answers 500, as Graph does when it is broken",
    "hang": "does not answer for 20 s",
    "drip": "sends a byte a second",
    "garbage": "answers with a page of HTML instead of JSON",
    "list": "answers with JSON of another shape",
    "empty": "answers with an empty object",
    "says …": "answers with this very text as JSON",
    "expired": "says that the code has expired (token)",
    "reuse": "takes a code twice (token)",
    "other": "tells of another person than the one who agreed (me)",
    "wrong state": "sends the browser back with another state (dialog)",
    "no state": "sends the browser back without a state (dialog)",
    "wrong code": "sends the browser back with a code it does not know (dialog)",
}
PLACES = ("dialog", "token", "me", "friends")
CODE_LASTS = 600.0
HANGS_FOR = 20.0
CALLBACK = "/account/facebook/login/callback/"
PEOPLE: dict[str, dict[str, Any]] = {
    "10000000000000001": {
        "name": "Amira Hassan",
        "email": "amira@example.org",
        "friends": ["10000000000000002", "10000000000000005"],
    },
    "10000000000000002": {
        "name": "Bassem Fawzy",
        "note": "has a phone number and no address",
        "friends": ["10000000000000001"],
    },
    "10000000000000003": {"name": "Dina Samir", "note": "has an address that is not confirmed"},
    "10000000000000004": {"name": "Emad Nabil", "email": "not an address"},
    "10000000000000005": {
        "name": "فاطمة علي",
        "email": "fatma@example.org",
        "friends": ["10000000000000001"],
    },
    "10000000000000006": {"name": "<b>☆ Gamal \u202e☆</b>", "email": "GAMAL@Example.org"},
}


class Refused(Exception):
    """An error in the form in which Graph tells it."""

    def __init__(self, message: str, code: int, subcode: int = 0, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
        self.body = {
            "error": {
                "message": message,
                "type": "OAuthException",
                "code": code,
                **({"error_subcode": subcode} if subcode else {}),
                "fbtrace_id": "A" + secrets.token_urlsafe(16),
            }
        }


@dataclass
class Grant:
    """What somebody has agreed to in the dialog."""

    person: str
    scopes: list[str]
    redirect_uri: str
    at: float
    is_used: bool = False


@dataclass
class Facebook:
    """The app as it is registered, the people, and what they have agreed to."""

    app_id: str
    secret: str
    version: str
    site: str
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    misbehave: dict[str, str] = field(default_factory=dict)
    codes: dict[str, Grant] = field(default_factory=dict)
    tokens: dict[str, Grant] = field(default_factory=dict)
    installed: dict[str, list[str]] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Be as at the start."""
        with self.lock:
            self.people = {key: dict(person) for key, person in PEOPLE.items()}
            for kept in (self.misbehave, self.codes, self.tokens, self.installed):
                kept.clear()
            self.asked.clear()

    # The dialog

    def check_dialog(self, query: dict[str, str], version: str) -> None:
        """Refuse what Facebook's dialog refuses with a page of its own."""
        self.check_version(version)
        if query.get("client_id") != self.app_id:
            raise Refused("Invalid App ID: the provided app ID does not look like one.", 101)
        where = urlsplit(query.get("redirect_uri", ""))
        if where.scheme not in {"http", "https"} or where.path != CALLBACK:
            raise Refused("URL blocked: the redirect URI is not in the app's settings.", 191)
        if query.get("response_type") != "code":
            raise Refused("Invalid response_type.", 100)
        allowed = {"public_profile", "email", "user_friends"}
        if unknown := set(_scopes(query)) - allowed:
            raise Refused(f"Invalid Scopes: {', '.join(sorted(unknown))}.", 100)

    def agree(self, query: dict[str, str], person: str, declined: set[str]) -> str:
        """Return where the browser goes when somebody agrees."""
        scopes = [scope for scope in _scopes(query) if scope not in declined]
        code = "AQ" + secrets.token_urlsafe(48)
        with self.lock:
            self.codes[code] = Grant(person, scopes, query["redirect_uri"], time.monotonic())
            self.installed[person] = scopes
        if self.misbehave.get("dialog") == "wrong code":
            code = "AQ" + secrets.token_urlsafe(48)
        return self._back(query, {"code": code})

    def deny(self, query: dict[str, str]) -> str:
        """Return where the browser goes when somebody cancels."""
        return self._back(
            query,
            {
                "error": "access_denied",
                "error_code": "200",
                "error_description": "Permissions error",
                "error_reason": "user_denied",
            },
        )

    def _back(self, query: dict[str, str], answer: dict[str, str]) -> str:
        if "state" in query and self.misbehave.get("dialog") != "no state":
            wrong = self.misbehave.get("dialog") == "wrong state"
            answer["state"] = query["state"][::-1] + "x" if wrong else query["state"]
        return f"{query['redirect_uri']}?{urlencode(answer)}#_=_"

    # Graph

    def check_version(self, version: str) -> None:
        """Refuse another version than the one the app is made for."""
        if version != self.version:
            raise Refused(f"Unknown version {version}.", 2635)

    def token(self, query: dict[str, str]) -> dict[str, Any]:
        """Exchange a code for a token; each code once."""
        if query.get("client_id") != self.app_id:
            raise Refused("Error validating application. Cannot get application info.", 101)
        if not hmac.compare_digest(query.get("client_secret", ""), self.secret):
            raise Refused("Error validating client secret.", 1)
        if query.get("grant_type") == "client_credentials":
            return {"access_token": f"{self.app_id}|{self.secret}", "token_type": "bearer"}
        with self.lock:
            grant = self.codes.get(query.get("code", ""))
            if grant is None:
                raise Refused("Invalid verification code format.", 100)
            expired = time.monotonic() - grant.at > CODE_LASTS
            if expired or self.misbehave.get("token") == "expired":
                raise Refused("This authorization code has expired.", 100, 36007)
            if grant.is_used and self.misbehave.get("token") != "reuse":
                raise Refused("This authorization code has been used.", 100, 36009)
            if query.get("redirect_uri") != grant.redirect_uri:
                raise Refused(
                    "Error validating verification code. Please make sure your redirect_uri is "
                    "identical to the one you used in the OAuth dialog request",
                    100,
                    36008,
                )
            grant.is_used = True
            token = "EAA" + secrets.token_urlsafe(90)
            self.tokens[token] = grant
        return {"access_token": token, "token_type": "bearer", "expires_in": 5183944}

    def grant_of(self, query: dict[str, str]) -> Grant:
        """Return what a token stands for. The app demands the proof that we know its secret."""
        token = query.get("access_token", "")
        grant = self.tokens.get(token)
        if grant is None:
            raise Refused("Invalid OAuth access token - Cannot parse access token", 190, status=401)
        proof = hmac.new(self.secret.encode(), token.encode(), hashlib.sha256).hexdigest()
        if not query.get("appsecret_proof"):
            raise Refused("API calls from the server require an appsecret_proof argument", 100)
        if not hmac.compare_digest(query["appsecret_proof"], proof):
            raise Refused("Invalid appsecret_proof provided in the API argument", 100)
        return grant

    def me(self, query: dict[str, str]) -> dict[str, Any]:
        """Tell of the person those fields that are asked for and granted."""
        grant = self.grant_of(query)
        key = grant.person
        if self.misbehave.get("me") == "other":
            key = next(other for other in self.people if other != key)
        person = self.people[key]
        wanted = query.get("fields", "id,name").split(",")
        if unknown := set(wanted) - {"id", "name", "email", "first_name", "last_name", "picture"}:
            field_ = min(unknown)
            raise Refused(f"(#100) Tried accessing nonexisting field ({field_})", 100)
        told: dict[str, Any] = {"id": key}
        if "name" in wanted:
            told["name"] = person["name"]
        if "email" in wanted and "email" in grant.scopes and person.get("email"):
            told["email"] = person["email"]
        return told

    def friends(self, query: dict[str, str], base: str) -> dict[str, Any]:
        """Tell the friends who use the app and have agreed to be told of."""
        grant = self.grant_of(query)
        mine = self.people[grant.person].get("friends", [])
        shown = [
            key
            for key in mine
            if "user_friends" in grant.scopes and "user_friends" in self.installed.get(key, [])
        ]
        limit = min(int(query.get("limit", "25")), 500)
        first = shown.index(query["after"]) + 1 if query.get("after") in shown else 0
        page = shown[first : first + limit]
        answer: dict[str, Any] = {
            "data": [{"id": key} for key in page],
            "summary": {"total_count": len(mine)},
        }
        if page:
            answer["paging"] = {"cursors": {"before": page[0], "after": page[-1]}}
            if first + limit < len(shown):
                after = urlencode({**query, "after": page[-1]})
                answer["paging"]["next"] = f"{base}/{self.version}/me/friends?{after}"
        return answer

    def debug_token(self, query: dict[str, str]) -> dict[str, Any]:
        """Tell an app about a token of its own."""
        if query.get("access_token") != f"{self.app_id}|{self.secret}":
            raise Refused("(#100) You must provide an app access token", 100)
        grant = self.tokens.get(query.get("input_token", ""))
        if grant is None:
            return {"data": {"is_valid": False, "scopes": []}}
        return {
            "data": {
                "app_id": self.app_id,
                "type": "USER",
                "is_valid": True,
                "scopes": grant.scopes,
                "user_id": grant.person,
            }
        }

    # What Facebook sends by itself

    def signed_request(self, person: str, issued_at: int | None = None) -> str:
        """Return Facebook's word about somebody, signed with the app's secret."""
        said = {
            "user_id": person,
            "algorithm": "HMAC-SHA256",
            "issued_at": int(time.time()) if issued_at is None else issued_at,
        }
        payload = _base64url(json.dumps(said, separators=(",", ":")).encode())
        mac = hmac.new(self.secret.encode(), payload.encode(), hashlib.sha256).digest()
        return f"{_base64url(mac)}.{payload}"

    def tell_the_site(self, what: str, person: str) -> str:
        """Post a signed request to the site's callback; return what it has answered."""
        with self.lock:
            self.installed.pop(person, None)
        url = f"{self.site}/account/facebook/{what}/"
        body = urlencode({"signed_request": self.signed_request(person)}).encode()
        request = urllib.request.Request(url, body)  # noqa: S310 - the site that was named
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                return f"{answer.status} {answer.read(4096).decode(errors='replace')}"
        except urllib.error.HTTPError as error:
            return f"{error.code} {error.read(500).decode(errors='replace')}"
        except OSError as error:
            return f"the site does not answer: {error}"


def _scopes(query: dict[str, str]) -> list[str]:
    return [scope for scope in re.split(r"[, ]", query.get("scope", "")) if scope]


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode("ascii").rstrip("=")


class Handler(BaseHTTPRequestHandler):
    """One request to the stand-in."""

    facebook: ClassVar[Facebook]
    server_version = "FacebookStandIn/1"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a GET."""
        self._answer(_fields(urlsplit(self.path).query))

    def do_POST(self) -> None:
        """Answer a POST."""
        length = min(int(self.headers.get("Content-Length") or 0), 1_000_000)
        body = self.rfile.read(length).decode()
        if urlsplit(self.path).path == "/_told":
            self._told(json.loads(body))
        else:
            self._answer({**_fields(urlsplit(self.path).query), **_fields(body)})

    def log_message(self, *arguments: Any) -> None:
        """Say nothing of each request."""

    def _told(self, wanted: dict[str, Any]) -> None:
        facebook = self.facebook
        with facebook.lock:
            if wanted.get("forget"):
                facebook.forget()
            facebook.misbehave.update(wanted.get("misbehave", {}))
            for key, person in wanted.get("people", {}).items():
                facebook.people[key] = person
            facebook.installed.update(wanted.get("installed", {}))
        self._json({"misbehave": facebook.misbehave})

    def _answer(self, query: dict[str, str]) -> None:
        facebook, path = self.facebook, urlsplit(self.path).path
        try:
            if path == "/_told":
                self._json({"asked": facebook.asked, "misbehave": facebook.misbehave})
            elif path == "/":
                self._page(_index(facebook))
            elif path == "/_send" and self.command == "POST":
                answer = facebook.tell_the_site(query["what"], query["person"])
                where = re.search(r'"url": "(http[^"]+)"', answer)
                link = f'<p><a href="{escape(where[1])}">Its status page</a></p>' if where else ""
                self._page(
                    f"<p>The site has answered: <code>{escape(answer)}</code></p>"
                    f'{link}<p><a href="/">Back</a></p>'
                )
            else:
                self._graph(path, query)
        except Refused as refused:
            self._json(refused.body, refused.status)

    def _graph(self, path: str, query: dict[str, str]) -> None:
        facebook = self.facebook
        version, _, rest = path.strip("/").partition("/")
        place = {"dialog/oauth": "dialog", "oauth/access_token": "token", "me/friends": "friends"}
        name = place.get(rest, rest)
        hidden = {"client_secret", "access_token", "appsecret_proof"}
        facebook.asked.append(
            {
                "method": self.command,
                "path": path,
                "query": {key: "…" if key in hidden else value for key, value in query.items()},
                "address": urlsplit(self.path).query if self.command == "POST" else "",
            }
        )
        if rest == "dialog/oauth":
            facebook.check_dialog(query, version)
            self._dialog(query)
            return
        facebook.check_version(version)
        if self._misbehaves(facebook.misbehave.get(name, "")):
            return
        match rest:
            case "oauth/access_token":
                self._json(facebook.token(query))
            case "me":
                self._json(facebook.me(query))
            case "me/friends":
                base = f"http://{self.headers.get('Host')}"
                self._json(facebook.friends(query, base))
            case "debug_token":
                self._json(facebook.debug_token(query))
            case _:
                raise Refused("Unknown path components: /" + rest, 2500)

    def _misbehaves(self, how: str) -> bool:
        match how:
            case "down":
                raise Refused(
                    "An unexpected error has occurred. Please retry later.", 2, status=500
                )
            case "hang":
                time.sleep(HANGS_FOR)
                self.close_connection = True
            case "drip":
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                for _second in range(int(HANGS_FOR)):
                    try:
                        self.wfile.write(b" ")
                        self.wfile.flush()
                    except OSError:
                        break
                    time.sleep(1)
                self.close_connection = True
            case "garbage":
                self._page("<p>Sorry, something went wrong.</p>")
            case "list":
                self._json([{"access_token": 7, "id": 7, "data": 7}])
            case "empty":
                self._json({})
            case _ if how.startswith("says "):
                self._send(how[5:].encode(), "application/json", 200)
            case _:
                return False
        return True

    def _dialog(self, query: dict[str, str]) -> None:
        facebook = self.facebook
        if self.command != "POST":
            self._page(_dialog(facebook, query))
        elif "cancel" in query:
            self._redirect(facebook.deny(query))
        else:
            offered = {"email", "user_friends"} & set(_scopes(query))
            declined = {scope for scope in offered if f"share-{scope}" not in query}
            self._redirect(facebook.agree(query, query["person"], declined))

    def _redirect(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json; charset=UTF-8", status)

    def _page(self, content: str) -> None:
        page = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            "<title>Not Facebook: a local stand-in</title></head><body>"
            "<h1>This is not Facebook</h1><p>It is a stand-in that runs on this machine, for trying"
            f" Basra. The people are invented.</p>{content}</body></html>"
        )
        self._send(page.encode(), "text/html; charset=utf-8", 200)

    def _send(self, body: bytes, kind: str, status: int) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True


def _fields(query: str) -> dict[str, str]:
    return {key: values[-1] for key, values in parse_qs(query, keep_blank_values=True).items()}


def _hidden(query: dict[str, str]) -> str:
    return "".join(
        f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">'
        for key, value in query.items()
    )


def _dialog(facebook: Facebook, query: dict[str, str]) -> str:
    asked = _scopes(query)
    ticks = "".join(
        f'<p><label><input type="checkbox" name="share-{scope}" checked> share {what}</label></p>'
        for scope, what in (("email", "the address"), ("user_friends", "the friends who play"))
        if scope in asked
    )
    people = "".join(
        f'<p><button name="person" value="{escape(key)}">Continue as '
        f"<bdi>{escape(person['name'])}</bdi></button>{_about(person)}</p>"
        for key, person in facebook.people.items()
    )
    return (
        f'<form method="post">{_hidden(query)}<p>Basra asks for: {escape(", ".join(asked))}</p>'
        f'{ticks}{people}<p><button name="cancel" value="yes">Cancel</button></p></form>'
    )


def _about(person: dict[str, Any]) -> str:
    said = person.get("email") or person.get("note") or ""
    return f" <small>{escape(said)}</small>" if said else ""


def _index(facebook: Facebook) -> str:
    rows = "".join(
        f'<form method="post" action="/_send"><p><bdi>{escape(person["name"])}</bdi>'
        f"{_about(person)}"
        f'<input type="hidden" name="person" value="{escape(key)}"> '
        '<button name="what" value="deauthorise">Remove Basra from the apps</button> '
        '<button name="what" value="delete">Ask for deletion of the data</button></p></form>'
        for key, person in facebook.people.items()
    )
    return f"<h2>What people do in Facebook’s settings</h2>{rows}"


def serve(facebook: Facebook, port: int) -> ThreadingHTTPServer:
    """Return a server on loopback; port 0 takes a free one."""
    handler = type("Handler", (Handler,), {"facebook": facebook})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    return server


def main(arguments: list[str] | None = None) -> None:
    """Run until it is stopped."""
    said = os.environ.get
    origin = urlsplit(said("FACEBOOK_ORIGIN", "http://127.0.0.1:8032"))
    parser = argparse.ArgumentParser(description="A stand-in for Facebook, on loopback.")
    parser.add_argument("--port", type=int, default=origin.port or 8032)
    parser.add_argument("--app-id", default=said("FACEBOOK_CLIENT_ID", "1"))
    parser.add_argument("--secret", default=said("FACEBOOK_CLIENT_SECRET", "stand-in"))
    parser.add_argument("--graph-version", default=said("FACEBOOK_GRAPH_VERSION") or "v24.0")
    parser.add_argument("--site", default=said("BASRA_URL") or "http://localhost:8000")
    options = parser.parse_args(arguments)
    facebook = Facebook(
        options.app_id, options.secret, options.graph_version, options.site.rstrip("/")
    )
    try:
        server = serve(facebook, options.port)
    except OSError as error:
        sys.exit(f"The stand-in for Facebook cannot use port {options.port}: {error.strerror}")
    with server:
        server.serve_forever(poll_interval=0.2)


if __name__ == "__main__":
    main()
