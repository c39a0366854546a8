"""What all addresses of the API share: the shape of their errors, and their schema."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiResponse
from rest_framework import serializers

ERRORS = {
    "401": "You are not signed in, or the token is not valid, has expired or was revoked.",
    "403": "The scope of the token does not cover this, or you need a second factor.",
    "404": "It does not exist, or you may not see it.",
    "429": "Too many requests. Wait for the seconds of the header Retry-After.",
    "default": "Every other error, whatever its status.",
}


class RequestProblemSerializer(serializers.Serializer[object]):
    """One problem of a request."""

    instance = serializers.IntegerField(
        allow_null=True, help_text="Of a judged item; null if the problem concerns the request."
    )
    field = serializers.CharField(help_text="Blank if the problem concerns no field.")
    found = serializers.CharField()
    expected = serializers.CharField()
    todo = serializers.CharField()


class ErrorSerializer(serializers.Serializer[object]):
    """An error: a message for people, a code for programs, and all problems of the request."""

    message = serializers.CharField()
    code = serializers.CharField()
    errors = RequestProblemSerializer(many=True)  # type: ignore[assignment]  # not its own errors


class ApiSchema(AutoSchema):
    """The schema of an address of the API, whose errors all have one shape."""

    def _get_paginator(self) -> Any:
        """Return how a list is divided into pages: one that a change returns is whole."""
        return None if self.method == "POST" else super()._get_paginator()  # type: ignore[no-untyped-call]

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, object]:
        errors = {}
        for status, description in ERRORS.items():
            error = OpenApiResponse(ErrorSerializer, description=description)
            errors[status] = self._get_response_for_code(error, status)  # type: ignore[no-untyped-call]
        return {**errors, **super()._get_response_bodies(direction)}
