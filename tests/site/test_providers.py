"""Which other sites people can sign in with, by what the environment says."""

from __future__ import annotations

import pytest

from basra_site.env import Env, NotConfigured
from basra_site.providers import Providers, from_environment

FACEBOOK = {"FACEBOOK_CLIENT_ID": "123", "FACEBOOK_CLIENT_SECRET": "a secret"}


def offered(variables: dict[str, str], *, development: bool = False) -> Providers:
    env = Env(variables)
    found = from_environment(env, development=development)
    env.finish()
    return found


def refused(variables: dict[str, str], *, development: bool = False) -> str:
    with pytest.raises(NotConfigured) as stopped:
        offered(variables, development=development)
    return str(stopped.value)


def test_nothing_is_offered_unless_it_is_set() -> None:
    found = offered({})
    assert (found.settings, found.apps, found.origins) == ({}, [], [])


def test_facebook_is_asked_for_no_more_than_is_needed() -> None:
    found = offered(FACEBOOK)
    settings = found.settings["facebook"]
    assert settings["SCOPE"] == ["public_profile", "email"]
    assert settings["METHOD"] == "oauth2"
    assert settings["VERIFIED_EMAIL"] is False
    assert "GRAPH_API_URL" not in settings
    assert found.origins == ["https://*.facebook.com"]
    assert not found.facebook_friends


def test_friends_are_asked_for_where_the_operator_says_so() -> None:
    found = offered({**FACEBOOK, "FACEBOOK_FRIENDS": "yes"})
    assert "user_friends" in found.settings["facebook"]["SCOPE"]
    assert found.facebook_friends


@pytest.mark.parametrize("name", ["FACEBOOK", "GOOGLE"])
@pytest.mark.parametrize("half", ["CLIENT_ID", "CLIENT_SECRET"])
def test_half_a_site_is_refused(name: str, half: str) -> None:
    said = refused({f"{name}_{half}": "123"})
    assert f"set {name}_CLIENT_ID and {name}_CLIENT_SECRET both or neither" in said


def test_a_stand_in_is_for_development_alone() -> None:
    stand_in = {**FACEBOOK, "FACEBOOK_ORIGIN": "http://127.0.0.1:8032"}
    assert "leave FACEBOOK_ORIGIN unset" in refused(stand_in)
    found = offered(stand_in, development=True)
    assert found.settings["facebook"]["APPS"][0]["name"] == "Facebook (local stand-in)"
    assert found.origins == ["http://127.0.0.1:8032"]


@pytest.mark.parametrize("version", ["24.0", "v24", "v24.0/../..", "latest"])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    assert "set FACEBOOK_GRAPH_VERSION" in refused({"FACEBOOK_GRAPH_VERSION": version})


def test_a_further_site_needs_settings_alone() -> None:
    found = offered(
        {
            "BASRA_SIGN_IN_PROVIDERS": "github",
            "GITHUB_CLIENT_ID": "123",
            "GITHUB_CLIENT_SECRET": "a secret",
            "GITHUB_ORIGIN": "https://github.com",
        }
    )
    assert found.apps == ["allauth.socialaccount.providers.github"]
    assert found.settings["github"]["APPS"] == [{"client_id": "123", "secret": "a secret"}]
    assert found.origins == ["https://github.com"]


@pytest.mark.parametrize("name", ["nobody", "../github", "GitHub", "os"])
def test_a_further_site_that_allauth_does_not_know_is_refused(name: str) -> None:
    said = refused({"BASRA_SIGN_IN_PROVIDERS": name})
    assert "set BASRA_SIGN_IN_PROVIDERS" in said


@pytest.mark.parametrize("origin", ["", "http://github.com", "https://github.com; script-src *"])
def test_a_further_site_says_where_its_page_is(origin: str) -> None:
    said = refused(
        {
            "BASRA_SIGN_IN_PROVIDERS": "github",
            "GITHUB_CLIENT_ID": "123",
            "GITHUB_CLIENT_SECRET": "a secret",
            "GITHUB_ORIGIN": origin,
        }
    )
    assert "set GITHUB_ORIGIN" in said
