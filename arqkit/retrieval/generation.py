"""Generated answers, the baseline of 004 §6.2: the prompt, the limit of an answer, and the model.

The paper has text-davinci-002 complete a prompt, so the client asks `/completions` of an
OpenAI-compatible API, not `/chat/completions`. Where it retries until an answer is short enough,
we give up after a number of tries.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from time import monotonic, time
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from arqkit.formats.nested import json_values
from arqkit.records import TopicRecord
from arqkit.texts.posts.text import text_with_latex

BUSY = (429, 503)
"""The statuses of a server that wants to be asked again later."""
PAUSE = 20
"""Seconds to wait for a busy server that does not say how long."""
LONGEST_WAIT = 600
"""Seconds that a server may ask to wait; beyond that, people decide."""
REQUESTS = 6
"""How often a busy server is asked for one answer."""
MOST_BYTES = 1_000_000
"""The largest response. 570 tokens have a few thousand bytes."""
EXCERPT = 200


@dataclass(frozen=True)
class GenerationSettings:
    """The model and the parameters of 004 §6.2; lengths are in Unicode characters.

    An answer is asked for at most `tries` times.
    """

    model: str
    prompt: str = "Q: {question}\n\nA:"
    max_tokens: int = 570
    temperature: float = 0.7
    max_characters: int = 1_200
    tries: int = 10

    def prompt_of(self, topic: TopicRecord) -> str:
        """Return the prompt for a topic: text of title and body, with LaTeX between dollars."""
        text = text_with_latex(f"{topic.title}\n\n{topic.body}")
        return self.prompt.format(question=re.sub(r"\s*\n\s*\n\s*", "\n\n", text))


class GenerationError(Exception):
    """The server did not complete a prompt; the message says why, and what to do."""


class _BusyError(Exception):
    """The server wants to be asked again after some seconds."""

    def __init__(self, seconds: int, message: str) -> None:
        super().__init__(message)
        self.seconds = seconds


class _NoRedirects(HTTPRedirectHandler):
    """Refuse redirects: they would take the key to another server."""

    def redirect_request(self, *args: object, **named: object) -> None:
        """Return no request to follow a redirect with."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible API: its address, such as `https://api.example.org/v1`, and a key.

    `seconds` is the longest time for one response. `needs` returns what to do about an address or
    a key that cannot be used; `complete` presupposes that there is nothing.
    """

    url: str
    key: str = field(default="", repr=False)
    seconds: float = 300

    def needs(self) -> str:
        """Return what is wrong with the address or the key, or an empty text."""
        parts = urlsplit(self.url)
        is_address = parts.scheme in ("http", "https") and parts.hostname
        if not is_address or "@" in parts.netloc or parts.query or parts.fragment:
            return (
                "ARQLAB_GENERATION_URL is not the address of an API. Set it to an address such as "
                "https://api.example.org/v1, without a password or parameters."
            )
        if not re.fullmatch(r"[!-~]*", self.key):  # the error of a bad header would show the key
            return (
                "ARQLAB_GENERATION_KEY has a space or another character that no key has. "
                "Copy the key again."
            )
        return ""

    def complete(
        self, prompt: str, settings: GenerationSettings, *, wait: Callable[[int], None]
    ) -> str:
        """Return how the model completes a prompt. `wait` lets the seconds pass that it asks for.

        Raises GenerationError if it is not reached, refuses, or answers with something else.
        """
        body = {
            "model": settings.model,
            "prompt": prompt,
            "max_tokens": settings.max_tokens,
            "temperature": settings.temperature,
        }
        busy = ""
        for left in reversed(range(REQUESTS)):
            try:
                return _completion(self._response(body))
            except _BusyError as refusal:
                busy = str(refusal)
                if refusal.seconds > LONGEST_WAIT:
                    todo = f"It asks to wait {refusal.seconds:,} seconds. Go on after that time."
                    raise GenerationError(f"{busy} {todo}") from refusal
                if left:
                    wait(refusal.seconds)
        todo = f"It was asked {REQUESTS} times. Try again later, or raise your limits there."
        raise GenerationError(f"{busy} {todo}")

    def _response(self, body: Mapping[str, object]) -> bytes:
        request = Request(  # noqa: S310  # `needs` checks the scheme
            f"{self.url.rstrip('/')}/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"}
            | ({"Authorization": f"Bearer {self.key}"} if self.key else {}),
        )
        until = monotonic() + self.seconds
        try:
            with build_opener(_NoRedirects).open(request, timeout=self.seconds) as response:
                return _read(response, until)
        except HTTPError as error:
            with error:
                raise self._refused(error) from error
        except (OSError, HTTPException) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, TimeoutError):
                raise GenerationError(
                    f"The language model did not answer within {self.seconds:g} seconds. Check "
                    "that its server is not overloaded, or choose a faster model."
                ) from error
            reason = getattr(reason, "strerror", None) or reason
            raise GenerationError(
                f"The language model at {self.url} cannot be reached: {reason}. Check "
                "ARQLAB_GENERATION_URL, and that the server runs."
            ) from error

    def _refused(self, error: HTTPError) -> Exception:
        """Return what to raise for a status other than success."""
        if error.code in (401, 403):  # its message may have parts of the key
            return GenerationError(
                f"The language model refused the key (HTTP {error.code}). Check "
                "ARQLAB_GENERATION_KEY."
            )
        reason = str(error.reason)
        with suppress(ValueError, TypeError, KeyError, OSError, HTTPException):
            reason = str(json_values(error.read(MOST_BYTES))["error"]["message"])
        if self.key:
            reason = reason.replace(self.key, "…")
        message = f"The language model answered HTTP {error.code}: {reason[:EXCERPT]}"
        message = message.rstrip(".") + "."
        if error.code in BUSY:
            return _BusyError(_seconds(error.headers.get("Retry-After", "")), message)
        return GenerationError(
            f"{message} Check ARQLAB_GENERATION_URL, which mostly ends in /v1, and "
            "ARQLAB_GENERATION_MODEL."
        )


def short_answer(complete: Callable[[], str], settings: GenerationSettings) -> str | None:
    """Return the first completion that is an answer of at most the limit, without surrounding
    spaces, or None if no try has one.
    """
    for _ in range(settings.tries):
        answer = complete().strip()
        if 0 < len(answer) <= settings.max_characters:
            return answer
    return None


def _read(response: HTTPResponse, until: float) -> bytes:
    """Return a response. Raise TimeoutError if it comes byte by byte for too long."""
    data = b""
    while part := response.read1(MOST_BYTES):
        data += part
        if monotonic() > until:
            raise TimeoutError
        if len(data) > MOST_BYTES:
            break
    return data


def _completion(data: bytes) -> str:
    try:
        text = json_values(data)["choices"][0]["text"]
    except (ValueError, TypeError, KeyError, IndexError):
        text = None
    if not isinstance(text, str):
        raise GenerationError(
            f"The language model answered {data[:EXCERPT].decode(errors='replace')!r}, which is "
            "not a completion. Check that ARQLAB_GENERATION_URL is the address of an "
            "OpenAI-compatible API with /completions."
        )
    # JSON can have halves of characters and null bytes, which no run file can.
    return text.encode(errors="replace").decode().replace("\0", "")


def _seconds(retry_after: str) -> int:
    """Return the seconds of a Retry-After header, which may also be a date (RFC 9110, §10.2.3)."""
    if re.fullmatch("[0-9]{1,9}", retry_after):
        return int(retry_after)
    try:
        return max(0, round(parsedate_to_datetime(retry_after).timestamp() - time()))
    except ValueError:
        return PAUSE
