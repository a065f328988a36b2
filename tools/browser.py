"""Find, or get, a Chromium for the browser tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "headless_shell",
)  # fmt: skip
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
IN_PLAYWRIGHTS_CACHE = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium_headless_shell-*/chrome-*/*headless*shell",
)
# Without fonts for it, a page in a script other than Latin would be tested as boxes.
DEBIAN_PACKAGES = ("chromium", "fonts-noto-core")
SECONDS_FOR_A_DOWNLOAD = 120
SECONDS_FOR_A_PACKAGE = 300


def find() -> str | None:
    """Return the path of a Chromium or Chrome that runs, `BASRA_CHROMIUM` first; None if none."""
    wanted = os.environ.get("BASRA_CHROMIUM")
    if wanted:
        return wanted if _version(wanted) else None
    candidates = [*filter(None, map(shutil.which, NAMES)), *PLACES, *_cached()]
    return next((path for path in candidates if _version(path)), None)


def get() -> str | None:
    """Return a Chromium, fetching one where there is none; None if that fails too.

    First Playwright's own build, then, as root on Debian, the package.
    """
    if found := find():
        return found
    if os.environ.get("BASRA_CHROMIUM"):
        return None
    print("Fetching Chromium for the browser tests …", flush=True)
    _try([sys.executable, "-m", "playwright", "install", "chromium"], SECONDS_FOR_A_DOWNLOAD)
    if found := find():
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _try(["apt-get", "update", "-q"], SECONDS_FOR_A_DOWNLOAD)
        install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *DEBIAN_PACKAGES]
        _try(install, SECONDS_FOR_A_PACKAGE)
    return find()


def version() -> str:
    """Return what the browser that was found calls itself."""
    path = find()
    return _version(path) if path else ""


def _cached() -> list[str]:
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folders = [
        Path(cache) if cache else Path.home() / ".cache" / "ms-playwright",
        Path.home() / "Library" / "Caches" / "ms-playwright",
    ]
    return [
        str(path)
        for folder in folders
        for pattern in IN_PLAYWRIGHTS_CACHE
        for path in sorted(folder.glob(pattern), reverse=True)
    ]


def _version(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _try(command: list[str], seconds: int) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(
            command, env=environment, timeout=seconds, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        # What could not be fetched is reported once, by whoever asked.
        return
