"""Finding Python and uv, tried with made-up machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import bootstrap

ROOT = Path(__file__).resolve().parent.parent.parent


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def fake_python(path: Path, version: str) -> Path:
    return program(path, f'printf "%s\\n%s\\n" {version} {path}')


def a_shim_that_only_complains(path: Path) -> Path:
    return program(path, 'echo "pyenv: version 3.13 is not installed" >&2; exit 127')


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on it: `bin` is on the PATH, `pyenv` is pyenv's root."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/bin{os.pathsep}/usr/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    monkeypatch.setattr(bootstrap, "TOOLS", tmp_path / "tools")
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", tmp_path / "venv" / "python")
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp.json")
    return tmp_path


def no_uv(machine: Path) -> str:
    return str(program(machine / "uv", "echo 'no Python to be had' >&2; exit 1"))


def test_python_on_the_path_is_used(machine: Path) -> None:
    python = fake_python(machine / "bin" / "python3.13", "3.13")
    assert bootstrap.find_python(no_uv(machine)) == str(python)


def test_a_shim_that_only_complains_does_not_count(machine: Path) -> None:
    a_shim_that_only_complains(machine / "bin" / "python3.13")
    python = fake_python(machine / "pyenv" / "versions" / "3.13.2" / "bin" / "python3.13", "3.13")
    assert bootstrap.find_python(no_uv(machine)) == str(python)


def test_pyenvs_newest_patch_release_is_used(machine: Path) -> None:
    for patch in (2, 10, 9):
        fake_python(machine / "pyenv/versions" / f"3.13.{patch}" / "bin/python3.13", "3.13")
    assert "/3.13.10/" in bootstrap.find_python(no_uv(machine))


def test_a_python_that_lies_about_its_name_does_not_count(machine: Path) -> None:
    fake_python(machine / "bin" / "python3.13", "3.12")
    with pytest.raises(bootstrap.Failed, match="no Python to be had"):
        bootstrap.find_python(no_uv(machine))


def test_python_is_taken_from_uv_when_uv_has_one(machine: Path) -> None:
    python = fake_python(machine / "uvs" / "python", "3.13")
    uv = program(machine / "uv", f'[ "$2" = find ] && echo {python}')
    assert bootstrap.find_python(str(uv)) == str(python)


def test_uv_on_the_path_is_used(machine: Path) -> None:
    uv = program(machine / "bin" / "uv", "echo uv 1.0")
    assert bootstrap.find_uv() == str(uv)


def test_a_uv_that_does_not_run_is_passed_over(machine: Path) -> None:
    program(machine / "bin" / "uv", "exit 1")
    kept = program(machine / "tools" / "uv" / "bin" / "uv", "echo uv 1.0")
    assert bootstrap.find_uv() == str(kept)


def test_without_venv_and_pip_the_sentence_says_what_to_install(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = program(machine / "bare", 'echo "No module named $2" >&2; exit 1')
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(bootstrap, "python_candidates", list)
    with pytest.raises(bootstrap.Failed, match=r"python3-venv(.|\n)*No module named pip"):
        bootstrap.find_uv()


def test_nothing_is_done_when_the_stamp_fits(machine: Path) -> None:
    fake_python(bootstrap.VENV_PYTHON, "3.13")
    bootstrap.STAMP.write_text(json.dumps(bootstrap.wanted_stamp(development=True)))
    bootstrap.bootstrap(development=True)
    # The development set holds what playing needs.
    bootstrap.bootstrap(development=False)


def test_a_stamp_does_not_outlive_its_python(machine: Path) -> None:
    stamp = bootstrap.wanted_stamp(development=False)
    assert not bootstrap.satisfied(stamp, development=False)


def test_playing_alone_does_not_bring_what_the_tests_need(machine: Path) -> None:
    fake_python(bootstrap.VENV_PYTHON, "3.13")
    stamp = bootstrap.wanted_stamp(development=False)
    assert bootstrap.satisfied(stamp, development=False)
    assert not bootstrap.satisfied(stamp, development=True)


def test_an_installation_that_failed_leaves_no_stamp(machine: Path) -> None:
    fake_python(bootstrap.VENV_PYTHON, "3.13")
    bootstrap.STAMP.write_text(json.dumps({"root": str(ROOT), "runtime": "an older one"}))
    program(machine / "bin" / "uv", '[ "$1" = --version ] && echo uv 1.0')
    with pytest.raises(bootstrap.Failed):
        bootstrap.bootstrap(development=False)
    assert not bootstrap.STAMP.exists()


def test_a_broken_stamp_counts_as_none(machine: Path) -> None:
    bootstrap.STAMP.write_text('["half')
    assert bootstrap.read_stamp() == {}
    bootstrap.STAMP.write_text('["whole"]')
    assert bootstrap.read_stamp() == {}


def find_python(path: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(ROOT / "tools" / "find_python")],
        env={"PATH": path, "HOME": str(home), "PYENV_ROOT": str(home / "pyenv")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_makefile_passes_over_a_python_that_does_not_run(tmp_path: Path) -> None:
    a_shim_that_only_complains(tmp_path / "bin" / "python3")
    (tmp_path / "bin" / "python3.11").symlink_to(sys.executable)
    done = find_python(str(tmp_path / "bin"), tmp_path)
    assert done.returncode == 0
    assert done.stdout.strip() in {"python3.11", "/usr/bin/python3", "/usr/local/bin/python3"}


def test_the_makefile_finds_a_python_that_only_pyenv_has(tmp_path: Path) -> None:
    (tmp_path / "pyenv/versions/3.13.0/bin").mkdir(parents=True)
    (tmp_path / "pyenv/versions/3.13.0/bin/python3").symlink_to(sys.executable)
    done = find_python(str(tmp_path), tmp_path)
    assert done.returncode == 0
    assert done.stdout.strip()
