"""Bring what the project needs: uv, Python 3.13, a virtual environment, the pinned packages.

Runs on any Python from 3.9 on, with its standard library alone. When everything is there it
only compares a stamp and starts nothing. The stamp is written last, so a run that was
interrupted is repaired by the next.
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "basra-stamp.json"
TOOLS = ROOT / "var" / "tools"
UV_PIN = ROOT / "tools" / "uv.txt"
RUNTIME = ROOT / "requirements.txt"
DEVELOPMENT = ROOT / "requirements-dev.txt"
VERSION = (ROOT / ".python-version").read_text(encoding="ascii").strip()

# What a Python must be and have: some are built without these.
PROBE = "import sqlite3, ssl, sys; print('%d.%d' % sys.version_info[:2], sys.executable, sep='\\n')"

# Where systems keep the authorities they trust. uv brings a list of its own, which does not know
# the authority of a company's proxy; a system without any of these has only that list.
AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)

NO_UV = """\
Basra could not get uv, which fetches its packages. Please do one of these and try again:
  - install uv (https://docs.astral.sh/uv/), or
  - install venv or pip for Python (on Debian and Ubuntu: apt install python3-venv).
Last message: {}"""

NO_PYTHON = """\
Basra needs Python {version} and could not find or fetch one. Please install it (for example by
`uv python install {version}` or `pyenv install {version}`) and try again.
Last message: {message}"""


class Failed(Exception):
    """Something is missing that a person has to bring; the message says what."""


def main() -> int:
    """Bring everything that is missing, and say what is being done when it takes long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also what the tests and checks need")
    parser.add_argument("--pins", action="store_true", help="compile requirements*.txt anew")
    options = parser.parse_args()
    try:
        if options.pins:
            compile_pins(find_uv())
        else:
            bootstrap(development=options.dev)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def bootstrap(development: bool) -> None:
    """Make `.venv` hold the pinned packages, unless its stamp says that it does."""
    stamp = read_stamp()
    if satisfied(stamp, development):
        return
    # Whoever had the development set keeps it.
    development = development or bool(stamp.get("development"))
    STAMP.unlink(missing_ok=True)
    uv = find_uv()
    if version_of(str(VENV_PYTHON)) != VERSION or stamp.get("root") != str(ROOT):
        print("Making a virtual environment …", flush=True)
        run([uv, "venv", "--quiet", "--clear", "--no-project", "--python", find_python(uv), VENV])
    print("Installing the packages …", flush=True)
    requirements = DEVELOPMENT if development else RUNTIME
    run(
        [
            uv,
            "pip",
            "sync",
            "--quiet",
            "--compile-bytecode",
            "--require-hashes",
            "--python",
            VENV_PYTHON,
            requirements,
        ]
    )
    STAMP.write_text(json.dumps(wanted_stamp(development)), encoding="utf-8")


def read_stamp() -> dict[str, str]:
    """Return the stamp of the last run that came to its end, or nothing."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def wanted_stamp(development: bool) -> dict[str, str]:
    """Return the stamp of an environment that is as it should be."""
    return {
        "root": str(ROOT),  # scripts in an environment that was moved do not start
        "python": VERSION,
        "runtime": digest(RUNTIME),
        "development": digest(DEVELOPMENT) if development else "",
    }


def satisfied(stamp: dict[str, str], development: bool) -> bool:
    """Tell whether the environment of this stamp will do; the development set is a superset."""
    # The interpreter is a link: it may have been removed since.
    return VENV_PYTHON.exists() and stamp in (
        wanted_stamp(development),
        wanted_stamp(development=True),
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def version_of(python: str) -> str:
    """Return "3.13" and the like for a Python that runs and is complete, else nothing."""
    return (probe(python) or [""])[0]


def probe(python: str) -> list[str] | None:
    """Return version and real path of a Python, or None if it does not run.

    A pyenv shim is on the PATH whether or not its Python is there; the real path stays valid
    wherever it is used from.
    """
    try:
        done = subprocess.run(
            [python, "-c", PROBE], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.split("\n")
    return lines[:2] if done.returncode == 0 and len(lines) >= 2 else None


def find_python(uv: str) -> str:
    """Return the path of Python `VERSION`: from PATH, pyenv or uv, else fetched by uv."""
    for candidate in python_candidates():
        found = probe(candidate)
        if found and found[0] == VERSION:
            return found[1]
    known = output([uv, "python", "find", "--no-python-downloads", "--no-project", VERSION])
    if known and version_of(known) == VERSION:
        return known
    print("Fetching Python {} …".format(VERSION), flush=True)
    done = subprocess.run(
        [uv, "python", "install", "--quiet", VERSION],
        env=for_uv(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        fetched = output([uv, "python", "find", "--managed-python", "--no-project", VERSION])
        if fetched and version_of(fetched) == VERSION:
            return fetched
    raise Failed(NO_PYTHON.format(version=VERSION, message=last_line(done.stderr)))


def python_candidates() -> list[str]:
    """Return where a Python `VERSION` may be, best first."""
    name = "python" + VERSION
    folders = os.environ.get("PATH", "").split(os.pathsep)
    on_path = [os.path.join(folder, name) for folder in folders if folder]
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    versions = glob.glob(os.path.join(pyenv, "versions", VERSION + "*", "bin", name))
    return [*on_path, *sorted(versions, key=patch_of, reverse=True), sys.executable]


def patch_of(path: str) -> int:
    """Return the patch number in a pyenv path, so that 3.13.10 is newer than 3.13.9."""
    patch = Path(path).parent.parent.name[len(VERSION) + 1 :]
    return int(patch) if patch.isdigit() else -1


def find_uv() -> str:
    """Return a uv that runs: from PATH, from an earlier run, else from the package index."""
    for candidate in (
        shutil.which("uv"),
        os.path.expanduser("~/.local/bin/uv"),
        str(TOOLS / "uv" / "bin" / "uv"),
        str(TOOLS / "uv-target" / "bin" / "uv"),
    ):
        if candidate and output([candidate, "--version"]):
            return candidate
    return install_uv()


def install_uv() -> str:
    """Install uv below `var/tools`, by the first Python that can: with venv, else with pip."""
    print("Fetching uv …", flush=True)
    message = ""
    environment = {key: value for key, value in os.environ.items() if key != "PIP_USER"}
    environment["PIP_REQUIRE_VIRTUALENV"] = "0"
    for python in dict.fromkeys([sys.executable, *filter(probe, python_candidates())]):
        pip = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(UV_PIN)]
        venv, target = TOOLS / "uv", TOOLS / "uv-target"
        for steps, uv in (
            (
                [
                    [python, "-m", "venv", "--clear", str(venv)],
                    [str(venv / "bin" / "python"), *pip],
                ],
                venv / "bin" / "uv",
            ),
            ([[python, *pip, "--upgrade", "--target", str(target)]], target / "bin" / "uv"),
        ):
            try:
                for step in steps:
                    subprocess.run(
                        step, check=True, capture_output=True, text=True, env=environment
                    )
            except (OSError, subprocess.CalledProcessError) as error:
                said = getattr(error, "stderr", "") or getattr(error, "stdout", "") or str(error)
                message = last_line(said)
                continue
            if output([str(uv), "--version"]):
                return str(uv)
    raise Failed(NO_UV.format(message))


def compile_pins(uv: str) -> None:
    """Compile the pinned requirements, with hashes, for every platform; keep what still fits."""
    for name in ("requirements", "requirements-dev"):
        run(
            [uv, "pip", "compile", "--quiet", "--generate-hashes", "--universal",
             "--no-emit-index-url", "--python-version", VERSION,
             name + ".in", "--output-file", name + ".txt"],
            UV_CUSTOM_COMPILE_COMMAND="make pins",
        )  # fmt: skip


def run(command: list[str | Path], **variables: str) -> None:
    """Run uv, which shows its own errors; fail if it does."""
    words = [str(word) for word in command]
    environment = for_uv(UV_PYTHON_DOWNLOADS="never", **variables)
    if subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode:
        raise Failed("This did not work: " + " ".join(words))


def for_uv(**variables: str) -> dict[str, str]:
    """Return the environment for uv."""
    environment = {**os.environ, **variables}
    # An environment that happens to be active is not ours.
    environment.pop("VIRTUAL_ENV", None)
    if any(os.path.exists(path) for path in AUTHORITIES):
        environment.setdefault("UV_SYSTEM_CERTS", "true")
    return environment


def output(command: list[str]) -> str:
    """Return what a program prints, or nothing if it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def last_line(text: str) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "none"


if __name__ == "__main__":
    sys.exit(main())
