"""What the log says about requests of strangers: one line each, without a traceback."""

import io

import pytest
from django.test import Client, override_settings

BAD = {
    "host": {"path": "/", "headers": {"host": "evil.example"}},
    "host with a port": {"path": "/", "headers": {"host": "a b:c"}},
    "line break": {"path": "/labs/%0A2026-01-01%20ERROR%20forged/"},
    "redirect": {"path": "/static/%2e%2e/manage.py"},
    "no boundary": {
        "path": "/accounts/login/",
        "data": b"x",
        "content_type": "multipart/form-data",
    },
    "fields": {"path": "/accounts/login/", "data": {str(each): "" for each in range(5_001)}},
    "JSON": {"path": "/api/v1/labs/", "data": b"{", "content_type": "application/json"},
    "no CSRF token": {"path": "/accounts/login/", "data": {"login": "x"}},
}


@pytest.mark.parametrize("name", BAD)
@override_settings(ALLOWED_HOSTS=["testserver"])
def test_a_bad_request_is_one_line_of_the_log(db: None, log: io.StringIO, name: str) -> None:
    request = dict(BAD[name])
    browser = Client(enforce_csrf_checks=name == "no CSRF token")
    ask = browser.post if "data" in request else browser.get

    answer = ask(request.pop("path"), **request)

    assert 400 <= answer.status_code < 500
    [line] = log.getvalue().splitlines()
    assert line.startswith("20")
