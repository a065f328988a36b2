"""The pinned requirements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ["requirements.txt", "requirements-dev.txt", "tools/uv.txt"]
PIN = re.compile(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==\S+", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text()
    return {match[1]: match[0] for match in PIN.finditer(text)}


@pytest.mark.parametrize("name", FILES)
def test_every_package_is_pinned_and_hashed(name: str) -> None:
    text = (ROOT / name).read_text()
    packages = [block for block in re.split(r"\n(?=[a-z])", text) if PIN.match(block)]
    assert packages
    assert all("--hash=sha256:" in package for package in packages)


@pytest.mark.parametrize("name", FILES)
def test_no_pin_names_an_address_or_a_path(name: str) -> None:
    assert not re.search(r"://|index-url|find-links| @ |^-e|^/", (ROOT / name).read_text())


def test_the_development_set_holds_the_runtime_set() -> None:
    assert pins("requirements.txt").items() <= pins("requirements-dev.txt").items()


@pytest.mark.parametrize("name", ["requirements.in", "requirements-dev.in"])
def test_every_direct_dependency_is_bounded(name: str) -> None:
    lines = [line for line in (ROOT / name).read_text().splitlines() if re.match(r"[a-z]", line)]
    assert lines
    assert all(re.search(r"~=|<", line) for line in lines)
