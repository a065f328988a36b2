"""`python -m tools.mail_server`: the mail server of `make play`. What is mailed lands in a folder.

It listens on SMTP_HOST and SMTP_PORT and writes each mail as a file into BASRA_VAR/mail, where the
site's page at /mail/ shows it. Nothing leaves the machine.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from aiosmtpd.controller import Controller

from basra_site.env import Env

if TYPE_CHECKING:
    from aiosmtpd.smtp import SMTP, Envelope, Session

ROOT = Path(__file__).resolve().parent.parent
MOST_MAILS = 200
LARGEST_MAIL = 1024 * 1024


class Folder:
    """Keeps the latest mails as files, whose names are in the order of time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    async def handle_DATA(  # noqa: N802 - the name that aiosmtpd calls
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Take a mail."""
        del server, session
        content = envelope.content or b""
        self.keep(content if isinstance(content, bytes) else content.encode())
        return "250 OK"

    def keep(self, content: bytes) -> Path:
        """Write one mail, whole or not at all, and let the oldest go."""
        file = self.path / f"{time.time_ns()}.eml"
        draft = file.with_suffix(".draft")
        draft.write_bytes(content)
        draft.rename(file)
        for old in sorted(self.path.glob("*.eml"))[:-MOST_MAILS]:
            old.unlink(missing_ok=True)
        return file


def main() -> int:
    """Serve until SIGTERM or SIGINT."""
    env = Env(os.environ)
    host, port = env.text("SMTP_HOST", "127.0.0.1"), env.integer("SMTP_PORT", 8025, most=65535)
    var = Path(env.text("BASRA_VAR", str(ROOT / "var"))).absolute()
    controller = Controller(
        Folder(var / "mail"),
        hostname=host,
        port=port,
        data_size_limit=LARGEST_MAIL,
        ident="Basra's mail server for development",
    )
    try:
        controller.start()
    except OSError as error:
        print(f"No mail server at {host}:{port} ({error.strerror}).", file=sys.stderr)
        return 1
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    over.wait()
    controller.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
