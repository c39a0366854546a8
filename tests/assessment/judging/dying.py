"""A worker of the web server that dies in the middle of a request, where its header says."""

import os
import signal
from collections.abc import Callable
from itertools import count
from typing import Any
from unittest.mock import patch

from django.db import connections
from django.http import HttpRequest, HttpResponse

STEP = "X-Die-Before-Step"
"""The header; its value is the number of a step. Steps are statements, commits and the answer."""


class DiesAtStep:
    """Middleware: kill this process, as a power cut does, before the step that the header names."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a request unless this process dies before."""
        steps, last, database = count(1), int(request.headers.get(STEP, 0)), connections["default"]
        commit = database._commit

        def step() -> None:
            if next(steps) == last:
                os.kill(os.getpid(), signal.SIGKILL)

        def step_and_execute(execute: Callable[..., Any], *arguments: Any) -> Any:
            step()
            return execute(*arguments)

        def step_and_commit() -> None:
            step()
            commit()

        with (
            database.execute_wrapper(step_and_execute),
            patch.object(database, "_commit", step_and_commit),
        ):
            response = self.get_response(request)
        step()
        return response
