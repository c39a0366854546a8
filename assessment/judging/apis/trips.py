"""The API of offline trips: preparing items, finding out what is left, and returning items."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from assessment.judging.apis import responses
from assessment.judging.apis.fields import ObjectSerializer, WholeNumberField
from assessment.judging.apis.requests import ID, MAX_ITEMS, ItemIdsField, field_problems
from assessment.judging.apis.views import JudgingApi
from assessment.judging.services.request_problems import refusal
from assessment.judging.services.trips import (
    MAX_HOURS,
    Trip,
    end_trip,
    page_files,
    prepare_trip,
    trip_of,
)


class TripRequestSerializer(ObjectSerializer):
    """How long the items of a trip are leased."""

    hours = WholeNumberField(min_value=1, max_value=MAX_HOURS)


class TripEndRequestSerializer(ObjectSerializer):
    """The items that the page keeps."""

    have = ItemIdsField(child=WholeNumberField(**ID), max_length=MAX_ITEMS)


class TripSerializer(serializers.Serializer[Any]):
    """The items of a trip in their order, and the end of their leases."""

    items = serializers.ListField(child=serializers.IntegerField())
    until = serializers.DateTimeField(allow_null=True)


class PreparedTripSerializer(TripSerializer):
    """A trip, and the static files that its pages load."""

    files = serializers.ListField(child=serializers.CharField())


class ReturnedSerializer(serializers.Serializer[Any]):
    """How many items others can take now."""

    returned = serializers.IntegerField()


def _read(serializer: ObjectSerializer, data: object) -> Any:
    """Return the values of a body. Raises `JudgingError` with all problems."""
    try:
        return serializer.run_validation(data)
    except ValidationError as error:
        raise refusal(field_problems(error.detail)) from error


def _trip(trip: Trip) -> dict[str, Any]:
    return {"items": trip.items, "until": trip.until}


@extend_schema(tags=["judging"])
class TripApi(JudgingApi):
    """An offline trip: items of the topic that are leased for longer."""

    @extend_schema(responses={200: TripSerializer, **responses.REFUSALS})
    def get(self, request: Request, lab: str, task: str, query_id: str) -> Response:
        """List the waiting items of the topic that are leased to the assessor."""
        topic_id = self.require_place().topic.pk
        return Response(_trip(trip_of(topic_id=topic_id, user=self.person, at=timezone.now())))

    @extend_schema(
        request=TripRequestSerializer,
        responses={200: PreparedTripSerializer, **responses.REFUSALS},
    )
    def post(self, request: Request, lab: str, task: str, query_id: str) -> Response:
        """Lease the first 50 items of the topic to the assessor for some hours."""
        hours = _read(TripRequestSerializer(), request.data)["hours"]
        topic_id = self.require_place().topic.pk
        trip = prepare_trip(topic_id=topic_id, user=self.person, hours=hours, at=timezone.now())
        return Response({**_trip(trip), "files": page_files()})


@extend_schema(tags=["judging"])
class TripEndApi(JudgingApi):
    """The end of an offline trip."""

    @extend_schema(
        request=TripEndRequestSerializer,
        responses={200: ReturnedSerializer, **responses.REFUSALS},
    )
    def post(self, request: Request, lab: str, task: str, query_id: str) -> Response:
        """Return the items of the trip to the topic, but for those that the page keeps."""
        have = _read(TripEndRequestSerializer(), request.data)["have"]
        topic_id, at = self.require_place().topic.pk, timezone.now()
        returned = end_trip(topic_id=topic_id, user=self.person, have=have, at=at)
        return Response({"returned": returned})
