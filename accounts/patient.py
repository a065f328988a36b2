"""Asking another site, such as Facebook, while somebody waits for a page."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

import requests
import urllib3
from allauth.core import context

SECONDS_FOR_A_SIGN_IN = 5.5
"""For everything that is asked of another site while somebody waits for a page."""
LARGEST_ANSWER = 256 * 1024


class Patient(requests.Session):
    """Asks another site, for as long as a page can wait and no longer, and reads no endless answer.

    All that is asked for one page shares ``SECONDS_FOR_A_SIGN_IN``. Redirects are not followed.
    The page's request keeps the last answer as ``another_site_said``.
    """

    def request(self, method: Any, url: Any, *args: Any, **how: Any) -> Any:
        """Return the answer, read to its end. Raises ``requests.RequestException``."""
        until = _time_is_up_at()
        left = until - time.monotonic()
        if left <= 0:
            raise requests.Timeout("no time is left")
        how.update(timeout=left, stream=True, allow_redirects=False)
        answers: queue.SimpleQueue[requests.Response | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                response = super(Patient, self).request(method, url, *args, **how)
                response._content = _read(response, until)
                response._content_consumed = True
            except Exception as error:  # noqa: BLE001 - told to who asked
                answers.put(error)
            else:
                answers.put(response)

        # The time-out of a socket begins anew with every byte; nobody waits for the last one here.
        threading.Thread(target=ask, daemon=True).start()
        try:
            answer = answers.get(timeout=left)
        except queue.Empty:
            raise requests.Timeout("no answer in time") from None
        if isinstance(answer, Exception):
            raise answer
        if context.request is not None:
            context.request.another_site_said = answer
        return answer


def _time_is_up_at() -> float:
    now = time.monotonic()
    if (page := context.request) is None:
        return now + SECONDS_FOR_A_SIGN_IN
    if not hasattr(page, "asks_others_until"):
        page.asks_others_until = now + SECONDS_FOR_A_SIGN_IN
    return float(page.asks_others_until)


def _read(response: requests.Response, until: float) -> bytes:
    content = b""
    try:
        while piece := response.raw.read1(16 * 1024, decode_content=True):
            content += piece
            if len(content) > LARGEST_ANSWER or time.monotonic() > until:
                break
        else:
            return content
    except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:
        raise requests.ConnectionError("the answer broke off") from error
    finally:
        response.close()
    raise requests.ConnectionError("the answer is too long or too slow")
