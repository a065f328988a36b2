"""The mail server of `make play`, really started, and the page that shows what it got."""

from __future__ import annotations

import os
import re
import signal
import smtplib
import subprocess
import sys
import time
import urllib.request
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from tests import cast
from tests.site.test_serve import ROOT, SECONDS, free_port
from tools.mail_server import MOST_MAILS, Folder
from tools.play import address, own_mail_server

if TYPE_CHECKING:
    from collections.abc import Iterator

HTML = (
    '<html lang="en" dir="ltr"><body><table dir="ltr"><tr><td>Tea <b>at five</b></td></tr></table>'
)


def a_mail(subject: str = "Tea") -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["To"], mail["From"] = subject, "nora@example.com", "basra@example.com"
    mail["X-Kind"] = "<b>bold</b>"
    mail.set_content("Tea at five: https://basra.example/tea/")
    mail.add_alternative(HTML, subtype="html")
    return mail


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Folder:
    settings.VAR = tmp_path
    return Folder(tmp_path / "mail")


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    number = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "BASRA_VAR": str(tmp_path),
        "SMTP_HOST": "127.0.0.1",
        "SMTP_PORT": str(number),
    }
    command = [sys.executable, "-m", "tools.mail_server"]
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            try:
                smtplib.SMTP("127.0.0.1", number).quit()
                break
            except OSError:
                time.sleep(0.1)
        yield number
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0


def test_what_is_mailed_lands_in_the_folder(port: int, tmp_path: Path) -> None:
    with smtplib.SMTP("127.0.0.1", port) as server:
        for number in range(3):
            server.send_message(a_mail(f"Tea {number}"))
    files = sorted((tmp_path / "mail").glob("*.eml"))
    assert len(files) == 3
    assert b"Subject: Tea 2" in files[2].read_bytes()


def test_a_port_that_is_taken_is_named(port: int, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "BASRA_VAR": str(tmp_path), "SMTP_PORT": str(port)}
    done = subprocess.run(
        [sys.executable, "-m", "tools.mail_server"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert f"No mail server at 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_oldest_mails_go(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "mail")
    files = [folder.keep(a_mail().as_bytes()) for _ in range(MOST_MAILS + 2)]
    assert not files[1].exists()
    assert files[2].exists()
    assert len(list(folder.path.iterdir())) == MOST_MAILS


@pytest.mark.django_db
def test_the_page_shows_headers_and_text_as_text_and_the_html_apart(folder: Folder) -> None:
    file = folder.keep(a_mail().as_bytes())
    browser = cast.browser_of()
    listed = cast.text_of(cast.get(browser, "/mail/"))
    assert f'href="/mail/{file.name}/"' in listed
    assert "Tea" in listed
    page = cast.text_of(cast.get(browser, f"/mail/{file.name}/"))
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert 'href="https://basra.example/tea/"' in page
    shown = cast.get(browser, f"/mail/{file.name}/html/")
    assert "<b>at five</b>" in cast.text_of(shown)
    policy = shown.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script-src" not in policy


@pytest.mark.django_db
def test_a_mail_can_be_seen_in_either_direction_of_writing(folder: Folder) -> None:
    file = folder.keep(a_mail().as_bytes())
    browser = cast.browser_of()
    for direction in ("ltr", "rtl"):
        shown = cast.text_of(cast.get(browser, f"/mail/{file.name}/html/", {"dir": direction}))
        assert shown.count(f'dir="{direction}"') == 2
    wrong = cast.text_of(cast.get(browser, f"/mail/{file.name}/html/", {"dir": '"><script>'}))
    assert "<script>" not in wrong


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["1.eml", "..%2Fbasra.sqlite3", "basra.sqlite3", "%00", "x" * 200])
def test_nothing_but_mails_is_shown(folder: Folder, name: str) -> None:
    (folder.path.parent / "basra.sqlite3").write_text("secret")
    for page in ("", "html/"):
        assert cast.get(cast.browser_of(), f"/mail/{name}/{page}").status_code in (400, 404)


def test_play_has_its_mail_server_beside_it_and_links_that_lead_home() -> None:
    assert own_mail_server("8000")["SMTP_PORT"] == "8025"
    assert own_mail_server("")["SMTP_PORT"] == "8025"
    assert own_mail_server("65530")["SMTP_PORT"] == "65505"
    assert address("", "") == "http://localhost:8000"
    assert address("127.0.0.1", "8001") == "http://localhost:8001"


def sign_up(site: str, address: str) -> None:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    page = browser.open(f"{site}/account/signup/").read().decode()
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found
    form = {
        "csrfmiddlewaretoken": found[1],
        "email": address,
        "name": "Nora",
        "password1": "a kettle on the window sill",
    }
    with browser.open(f"{site}/account/signup/", urlencode(form).encode()) as answer:
        assert "confirm-email" in answer.url


def latest_of(folder: Path, *, but: int) -> bytes:
    """Return the latest mail once there are more than ``but``."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        files = sorted(folder.glob("*.eml"))
        if len(files) > but:
            return files[-1].read_bytes()
        time.sleep(0.2)
    raise AssertionError("no mail came")


def test_what_a_real_site_mails_reaches_the_server_that_serve_runs_beside_it(
    tmp_path: Path,
) -> None:
    from basra_site.keys import fresh_settings

    site, mail = free_port(), 0
    while not mail or mail == site:
        mail = free_port() + 50
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONUNBUFFERED": "1",
        "BASRA_DEVELOPMENT": "yes",
        "BASRA_VAR": str(tmp_path),
        "PORT": str(site),
        "SMTP_HOST": "127.0.0.1",
        "SMTP_PORT": str(mail),
        "SMTP_TLS": "no",
        **fresh_settings(),
    }
    command = [sys.executable, "manage.py", "serve", "--migrate", "--workers", "1"]
    command += ["--beside", "tools.mail_server"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if "What it mails is at" in line:
                break
        try:
            assert f"http://localhost:{site}/mail/" in said
            with smtplib.SMTP("127.0.0.1", mail) as server:
                server.send_message(a_mail("Tea for two"))
            with urllib.request.urlopen(f"http://127.0.0.1:{site}/mail/") as answer:
                assert b"Tea for two" in answer.read()
            sign_up(f"http://127.0.0.1:{site}", "nora@example.com")
            assert b"To: nora@example.com" in latest_of(tmp_path / "mail", but=1)
        finally:
            process.terminate()
            process.wait(SECONDS)
    with pytest.raises(ConnectionRefusedError):
        smtplib.SMTP("127.0.0.1", mail)
