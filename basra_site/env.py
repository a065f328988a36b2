"""Typed reading of the environment.

The settings come from environment variables; a file of KEY=VALUE lines, named by
`BASRA_ENV_FILE`, may give more, and the environment wins over it. A secret may also come
from a file of its own: `SECRET_KEY_FILE` names the file that holds `SECRET_KEY`.

Problems are collected while the settings are read, so that `Env.finish` reports all at once.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

YES = frozenset({"yes", "true", "on", "1"})
NO = frozenset({"no", "false", "off", "0"})

LINE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)")


class NotConfigured(SystemExit):
    """The environment does not say enough to start.

    A `SystemExit` on purpose: whichever program reads the settings (manage.py, the web server,
    the worker) stops with the sentence and without a traceback.
    """


class Env:
    """What the environment says, and what is wrong with it."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self._variables = {**self._file(variables.get("BASRA_ENV_FILE", "")), **variables}

    def text(self, name: str, default: str | None = None) -> str:
        """Return `name` as text; without a default it must be set and not empty."""
        value = self._variables.get(name, "").strip() or default
        if value is None:
            self.problems.append(f"set {name}")
            return ""
        return value

    def integer(self, name: str, default: int, *, least: int = 0, most: int = 2_147_483_647) -> int:
        """Return `name` as a whole number between `least` and `most`."""
        value = self.text(name, str(default))
        if re.fullmatch(r"[0-9]{1,10}", value) and least <= int(value) <= most:
            return int(value)
        self.problems.append(f"set {name} to a whole number from {least} to {most}")
        return default

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return `name` as yes or no."""
        value = self.text(name, "yes" if default else "no").lower()
        if value not in YES | NO:
            self.problems.append(f'set {name} to "yes" or "no"')
        return value in YES

    def words(self, name: str, default: str | None = None) -> list[str]:
        """Return `name` as a list; its items are separated by commas."""
        return _split(self.text(name, default))

    def secret(self, name: str, default: str | None = None, *, least: int = 1) -> str:
        """Return the secret `name`, or what the file named by `name`_FILE holds.

        `least` is the shortest length that is accepted.
        """
        value = self.text(name, "")
        path = self.text(f"{name}_FILE", "")
        if path and not value:
            try:
                value = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeError):
                self.problems.append(f"let {name}_FILE name a file that can be read")
                return ""
        if not value and default is not None:
            return default
        if not value:
            self.problems.append(f"set {name}, or {name}_FILE to a file that holds it")
        elif len(value) < least:
            self.problems.append(f"set {name} to at least {least} characters")
        return value

    def secrets(self, name: str, default: str | None = None) -> list[str]:
        """Return a list of secrets, separated by commas, read as `secret` reads one."""
        return _split(self.secret(name, default))

    def problem(self, sentence: str) -> None:
        """Report something else that is wrong, as what to do: "set …"."""
        self.problems.append(sentence)

    def finish(self) -> None:
        """Stop with one sentence that names everything that is missing or wrong."""
        if self.problems:
            raise NotConfigured(
                "Basra cannot start: please "
                + "; ".join(dict.fromkeys(self.problems))
                + ". (docs/operations.md lists the settings; `make play` writes its own.)"
            )

    def _file(self, path: str) -> dict[str, str]:
        if not path:
            return {}
        try:
            content = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            self.problems.append("let BASRA_ENV_FILE name a file that can be read")
            return {}
        return self._parsed(content)

    def _parsed(self, content: str) -> dict[str, str]:
        values: dict[str, str] = {}
        for number, line in enumerate(content.splitlines(), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if match := LINE.fullmatch(line.strip()):
                values[match["name"]] = match["value"]
            else:
                self.problems.append(f"write line {number} of BASRA_ENV_FILE as NAME=value")
        return values


def _split(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]
