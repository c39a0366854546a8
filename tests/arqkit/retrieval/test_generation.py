"""The prompt, the limit and the client of generated answers, against a real server."""

import json
from email.utils import formatdate
from time import time

import pytest

from arqkit.records import TopicRecord
from arqkit.retrieval.generation import Endpoint, GenerationError, GenerationSettings, short_answer
from tests.model_server import model_server

SETTINGS = GenerationSettings("a-model")
KEY = "sk-4711-secret"
FORMULA = '<span class="math-container" id="q_1">$x &lt; 1$</span>'


@pytest.fixture
def server():
    with model_server() as server:
        yield server


@pytest.fixture
def complete(server):
    """Return what asks the server once; it must not have to wait."""
    endpoint = Endpoint(server.url, KEY, seconds=5)
    return lambda: endpoint.complete("Q: 1?\n\nA:", SETTINGS, wait=never)


def never(seconds):
    raise AssertionError(f"waits {seconds} seconds")


def failure(status, message="Wrong.", **headers):
    return status, headers, json.dumps({"error": {"message": message}}).encode()


def test_the_prompt_has_the_layout_of_the_paper():
    topic = TopicRecord("A.1", "", "<p>What does it mean for a matrix to be Hermitian?</p>")

    prompt = SETTINGS.prompt_of(topic)
    assert prompt == "Q: What does it mean for a matrix to be Hermitian?\n\nA:"


def test_the_prompt_has_title_body_and_latex_without_tags():
    topic = TopicRecord("A.1", f"If {FORMULA}", "<p>One &amp; {two}</p>\n\n<p>Three</p>\n")

    assert SETTINGS.prompt_of(topic) == "Q: If $x < 1$\n\nOne & {two}\n\nThree\n\nA:"


def test_a_completion_is_asked_for_with_the_parameters_of_the_paper(server, complete):
    assert complete() == " An answer."

    [(path, headers, body)] = server.asked
    assert (path, headers["Authorization"]) == ("/v1/completions", f"Bearer {KEY}")
    expected = {"prompt": "Q: 1?\n\nA:", "max_tokens": 570, "temperature": 0.7}
    assert body == expected | {"model": "a-model"}


def test_a_server_without_a_key_gets_none(server):
    Endpoint(server.url + "/").complete("Q", SETTINGS, wait=never)

    [(path, headers, _)] = server.asked
    assert path == "/v1/completions"
    assert "Authorization" not in headers


def test_an_answer_of_1200_characters_is_taken_and_a_longer_one_asked_for_again(server, complete):
    server.replies = ["é" * 1201, " \n", f" {'é' * 1200}\n", "not asked"]

    assert short_answer(complete, SETTINGS) == "é" * 1200
    assert len(server.asked) == 3


def test_a_model_that_only_writes_long_answers_is_given_up_after_the_tries(server, complete):
    server.replies = ["é" * 1201] * 11

    assert short_answer(complete, SETTINGS) is None
    assert len(server.asked) == 10


def test_signs_that_no_run_file_can_have_are_replaced(server, complete):
    server.replies = ["a\0b\ud800"]

    assert complete() == "ab?"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": formatdate(0, usegmt=True)}, 0),
        ({"Retry-After": "soon"}, 20),
        ({}, 20),
    ],
)
def test_a_busy_server_is_asked_again_when_it_says(server, header, seconds):
    server.replies = [failure(429, **header), "then"]
    waited = []

    assert Endpoint(server.url).complete("Q", SETTINGS, wait=waited.append) == "then"
    assert waited == [seconds]


def test_a_busy_server_may_say_at_what_time_to_ask_again(server):
    at = formatdate(time() + 300, usegmt=True)
    server.replies = [failure(429, **{"Retry-After": at})]
    waited = []

    Endpoint(server.url).complete("Q", SETTINGS, wait=waited.append)
    assert 0 <= 300 - waited[0] <= 30  # a loaded machine may be slow to ask


def test_a_server_that_stays_busy_is_given_up(server):
    server.replies = [failure(503, "Too many.")] * 7
    waited = []

    with pytest.raises(GenerationError, match=r"HTTP 503: Too many\. It was asked 6 times"):
        Endpoint(server.url).complete("Q", SETTINGS, wait=waited.append)
    assert waited == [20] * 5


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (failure(429, **{"Retry-After": "3600"}), "asks to wait 3,600 seconds. Go on after"),
        (failure(401, "Incorrect key sk-4711***"), r"refused the key \(HTTP 401\). Check ARQLAB"),
        (failure(404, "No model a-model"), "HTTP 404: No model a-model. Check ARQLAB_GENERATION_"),
        (failure(400, f"In {KEY}"), "HTTP 400: In …. Check"),
        ((500, {}, b"<html>"), "HTTP 500: Internal Server Error. Check"),
        ((302, {"Location": "http://127.0.0.1:9/"}, b""), "HTTP 302"),
        ((200, {}, b"<html>"), "answered '<html>', which is not a completion. Check that ARQLAB"),
        ((200, {}, b"\xff"), "not a completion"),
        ((200, {}, b'{"choices": []}'), "not a completion"),
        ((200, {}, b'{"choices": [{"text": null}]}'), "not a completion"),
        ((200, {}, b"1"), "not a completion"),
        ((200, {}, b'"' + b"a" * 2_000_000), "not a completion"),
        (None, "cannot be reached: Remote end closed connection"),
    ],
)
def test_every_other_reply_says_what_is_wrong_and_what_to_do(server, complete, reply, message):
    server.replies = [reply]

    with pytest.raises(GenerationError, match=message):
        complete()
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_named_with_its_address():
    with model_server() as gone:
        url = gone.url

    with pytest.raises(GenerationError, match=f"at {url} cannot be reached: Connection refused"):
        Endpoint(url).complete("Q", SETTINGS, wait=never)


@pytest.mark.parametrize("reply", [5.0, (200, {"Slowly": "yes", "Content-Length": "99"}, b"{")])
def test_a_server_that_is_silent_or_slow_is_not_waited_for(server, reply):
    server.replies = [reply]

    with pytest.raises(GenerationError, match=r"did not answer within 0\.2 seconds"):
        Endpoint(server.url, seconds=0.2).complete("Q", SETTINGS, wait=never)


def test_a_redirect_does_not_take_the_key_to_another_server(server, complete):
    with model_server() as other:
        server.replies = [(307, {"Location": f"{other.url}/completions"}, b"")]
        with pytest.raises(GenerationError, match="HTTP 307"):
            complete()

        assert not other.asked


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000/v1", "file:///etc/passwd", "https://", "https://a:b@c/v1", "http://a/?b"],
)
def test_only_the_address_of_an_api_can_be_asked(url):
    assert "Set it to an address such as https://" in Endpoint(url).needs()


def test_a_key_that_would_break_the_request_is_refused_without_being_shown():
    needs = Endpoint("http://127.0.0.1/v1", f"{KEY}\nX: y").needs()

    assert "Copy the key again" in needs
    assert KEY not in needs
    assert KEY not in repr(Endpoint("http://127.0.0.1/v1", KEY))
    assert not Endpoint("http://127.0.0.1/v1", KEY).needs()
