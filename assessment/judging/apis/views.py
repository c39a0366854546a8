"""The judging API: items, labels, skipped items, leases, trips, comments and related labels."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import IO, TypedDict, TypeVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arqlab.core.models import ApiToken, User
from arqlab.web import number_of
from assessment.errors import JudgingError
from assessment.judging.apis import responses
from assessment.judging.apis.requests import (
    ID,
    LARGEST_ID,
    MAX_ITEMS,
    HeldItem,
    HeldItemSerializer,
    ItemIdsField,
    LabelsSerializer,
    ObjectSerializer,
    WholeNumberField,
    read_body,
    read_item,
    read_labels,
)
from assessment.judging.permissions import place_or_404
from assessment.judging.selectors.items import Submitted, TopicPath, submitted_item
from assessment.judging.selectors.places import Place, judging_address
from assessment.judging.selectors.progress import own_judgments, progress_of
from assessment.judging.selectors.related import recent_comments, related_labels
from assessment.judging.services import leases
from assessment.judging.services.items import judgment_payload, saved_payload
from assessment.judging.services.judging_page import taken_payload
from assessment.judging.services.judgments import submit_judgments
from assessment.models import Judgment

F = TypeVar("F", bound=Callable[..., object])
# bytes; enough for the HTML of an item with a ticket, and to report comments that are too long
LARGEST = 4 * 2**20
_AGAIN = "Sign in again in another tab, then continue here; nothing is lost."
MESSAGES = {
    "csrf": f"Your session has changed. {_AGAIN}",
    "malformed": "Nothing was stored because the request is unreadable: {detail}.",
    "not-found": "This topic or item is not assigned to you. Your input is kept in this browser.",
    "signed-out": f"You are signed out. {_AGAIN}",
}

STATUSES = {"bad-label": 400, "bad-comment": 400, "malformed": 400, "too-large": 413}


class TripBody(TypedDict):
    """The valid hours of a trip."""

    hours: int


class TripEndBody(TypedDict):
    """The valid items that the page keeps."""

    have: list[int]


class TripRequestSerializer(ObjectSerializer[TripBody]):
    """How long the items of a trip are leased."""

    hours = WholeNumberField(min_value=1, max_value=leases.MAX_HOURS)


class TripEndRequestSerializer(ObjectSerializer[TripEndBody]):
    """The items that the page keeps."""

    have = ItemIdsField(child=WholeNumberField(**ID), max_length=MAX_ITEMS)


class TripSerializer(serializers.Serializer[object]):
    """The items of a trip in their order, and the end of their leases."""

    items = serializers.ListField(child=serializers.IntegerField())
    until = serializers.DateTimeField(allow_null=True)


class PreparedTripSerializer(TripSerializer):
    """A trip, and the static files that its pages load."""

    files = serializers.ListField(child=serializers.CharField())


class ReturnedSerializer(serializers.Serializer[object]):
    """How many items others can take now."""

    returned = serializers.IntegerField()


def documented(
    answer: type[serializers.Serializer[object]],
    *,
    request: type[serializers.Serializer[object]] | None = None,
    parameters: Sequence[OpenApiParameter] = (),
) -> Callable[[F], F]:
    """Return the decorator with the schema of a method, which answers with JSON or refuses."""
    answers = {200: answer, **responses.REFUSALS}
    return extend_schema(
        tags=["judging"], responses=answers, request=request, parameters=parameters
    )


class BodyParser(JSONParser):
    """A JSON parser that reports JSON nested too deeply as a client error."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, object] | None = None,
    ) -> dict[str, object]:
        """Return the parsed body. Raises `ParseError`."""
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise exceptions.ParseError("the JSON is nested too deeply") from error


class JudgingApi(APIView):
    """The base class of the judging API: authentication, size limit and errors."""

    checks_itself = True  # its queries see no topic of an archive
    scope = ApiToken.Scope.JUDGE
    parser_classes = (BodyParser,)
    throttle_classes = ()  # one item takes seconds, and counting requests takes time
    http_method_names = ("get", "post", "options")  # no HEAD, because a GET request leases an item
    error_statuses = STATUSES
    error_messages = MESSAGES

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Reject signed-out users, users who did not open the page, and large bodies."""
        super().initial(request, *args, **kwargs)
        # Another user may have signed in since, in another tab. They must not become the author of
        # the first user's input.
        judging = request.headers.get("X-Judging-User", str(request.user.pk))
        if not request.user.is_authenticated or judging != str(request.user.pk):
            raise exceptions.NotAuthenticated
        if self.kwargs.get("item", 0) > LARGEST_ID:
            raise Http404
        if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST:
            raise JudgingError(
                f"Nothing was stored: the request is larger than {LARGEST // 2**20} MB. Shorten "
                "the comment.",
                code="too-large",
            )

    @property
    def person(self) -> User:
        """Return the signed-in user, whom `initial` requires."""
        if not isinstance(self.request.user, User):
            raise exceptions.NotAuthenticated
        return self.request.user

    @property
    def seat(self) -> leases.Seat:
        """Return the user and the topic, before their assignment is checked."""
        path = {name: self.kwargs.get(name, "") for name in TopicPath._fields}
        return leases.Seat(self.person, TopicPath(**path))

    def leased_at(self, held_item: HeldItem) -> datetime | None:
        """Return when the lease was signed, even if it has expired; None if it is forged."""
        return leases.lease_begin(held_item.lease, item_id=held_item.item, seat=self.seat)

    def require_lease(self, held_item: HeldItem) -> datetime:
        """Require a genuine lease, even an expired one, and return when it was signed."""
        signed_at = self.leased_at(held_item)
        if signed_at is None:
            self.require_place()
            raise JudgingError(
                "This item is not leased to you. If you signed in with another account in another "
                "tab, sign in with your own account again; your input is kept in this browser.",
                code="forged-lease",
            )
        return signed_at

    def require_place(self) -> Place:
        """Return the topic and the round, or 404 for users who do not judge it there."""
        return place_or_404(self.person, self.seat.path)

    def shown(self, leased: leases.Taken | None) -> dict[str, object] | None:
        """Return an item as the page shows it, or None."""
        return taken_payload(leased, seat=self.seat) if leased else None


class TripApi(JudgingApi):
    """An offline trip: items of the topic that are leased for longer."""

    @documented(TripSerializer)
    def get(self, request: Request, lab: str, task: str, query_id: str) -> Response:
        """List the waiting items of the topic that are leased to the assessor."""
        topic_id = self.require_place().topic.pk
        trip = leases.trip_of(topic_id=topic_id, user=self.person, at=timezone.now())
        return Response(trip._asdict())

    @documented(PreparedTripSerializer, request=TripRequestSerializer)
    def post(self, request: Request, lab: str, task: str, query_id: str) -> Response:
        """Lease the first 50 items of the topic to the assessor for some hours."""
        hours = read_body(TripRequestSerializer(), request.data)["hours"]
        topic_id = self.require_place().topic.pk
        trip = leases.prepare_trip(
            topic_id=topic_id, user=self.person, hours=hours, at=timezone.now()
        )
        return Response({**trip._asdict(), "files": leases.page_files()})


class TripEndApi(JudgingApi):
    """The end of an offline trip."""

    @documented(ReturnedSerializer, request=TripEndRequestSerializer)
    def post(self, request: Request, lab: str, task: str, query_id: str) -> Response:
        """Return the items of the trip to the topic, but for those that the page keeps."""
        have = read_body(TripEndRequestSerializer(), request.data)["have"]
        topic_id, at = self.require_place().topic.pk, timezone.now()
        returned = leases.end_trip(topic_id=topic_id, user=self.person, have=have, at=at)
        return Response({"returned": returned})


class RelatedLabelsApi(JudgingApi):
    """The assessor's own labels of items with the same thread or formula."""

    @documented(responses.RelatedLabelsSerializer)
    def get(self, request: Request, item: int, **path: str) -> Response:
        """List the assessor's own current labels of related items.

        `threads` are other items of the topic in the thread of an instance, `formula` is the
        formula of the item in other topics.
        """
        place = self.require_place()
        related = related_labels(item, place=place, user=self.person)
        if related is None:
            raise Http404

        def label(judgment: Judgment, query_id: str) -> dict[str, object]:
            address = judging_address(place.path._replace(query_id=query_id))
            return {
                "item": judgment.instance.item.pk,
                "topic": query_id,
                "position": judgment.instance.item.position,
                "label": judgment.label,
                "url": f"{address}?item={judgment.instance.item.pk}",
            }

        threads = [
            {"instance": pk, "labels": [label(judged, place.path.query_id) for judged in labels]}
            for pk, labels in related[0].items()
        ]
        formula = [label(judged, judged.instance.item.topic.query_id) for judged in related[1]]
        return Response({"threads": threads, "formula": formula})


class RecentCommentsApi(JudgingApi):
    """The assessor's own recent comments."""

    @documented(responses.RecentCommentsSerializer)
    def get(self, request: Request, **path: str) -> Response:
        """List the assessor's last different comments in the task, newest first."""
        task = self.require_place().task
        return Response({"comments": recent_comments(task.pk, self.person.pk)})


class NextApi(JudgingApi):
    """The next item."""

    @documented(responses.NextSerializer, parameters=[responses.HAVE])
    def get(self, request: Request, **path: str) -> Response:
        """Lease the next item of the topic to the assessor, and return the topic's progress."""
        keys = [key for key in request.query_params.get("have", "").split(",") if key]
        have = [number_of(key) for key in keys[:MAX_ITEMS]]
        if None in have:
            raise JudgingError(
                "The parameter `have` is malformed. Use item ids separated by commas.",
                code="malformed",
            )
        stack, loaded = self.require_place().stack, tuple(filter(None, have))
        leased = leases.take_next(stack=stack, seat=self.seat, have=loaded, at=timezone.now())
        progress = progress_of(stack, self.person.pk)
        return Response({"item": self.shown(leased), "progress": progress})


class ItemApi(JudgingApi):
    """One item."""

    @documented(responses.ItemSerializer)
    def get(self, request: Request, item: int, **path: str) -> Response:
        """Lease and return a waiting item, or return an item that the assessor has judged."""
        stack = self.require_place().stack
        leased = leases.take_item(item_id=item, stack=stack, seat=self.seat, at=timezone.now())
        if leased is None:
            raise Http404
        return Response(self.shown(leased))


class JudgmentsApi(JudgingApi):
    """The assessor's own judgments of a topic."""

    @documented(responses.OwnJudgmentsSerializer)
    def get(self, request: Request, **path: str) -> Response:
        """List the assessor's current judgments of the topic, in the order of the items."""
        rows = [
            {
                **judgment_payload(judgment),
                "item": judgment.instance.item.pk,
                "instance": judgment.instance.pk,
                "position": judgment.instance.item.position,
            }
            for judgment in own_judgments(self.require_place().stack, self.person.pk)
        ]
        return Response({"judgments": rows})

    @documented(responses.SavedSerializer, request=LabelsSerializer)
    def post(self, request: Request, **path: str) -> Response:
        """Store labels for instances of one item, and return the next item the page lacks."""
        submission = read_labels(request.data, find=self._find, leased_at=self.require_lease)
        outcome = submit_judgments(
            seat=self.seat,
            submission=submission,
            browser=request.META.get("HTTP_USER_AGENT", ""),
            at=timezone.now(),
        )
        saved = [saved_payload(label) for label in outcome.saved]
        return Response(
            {"saved": saved, "done": outcome.is_done, "next": self.shown(outcome.following)}
        )

    def _find(self, held_item: HeldItem, guideline: int | None) -> Submitted | None:
        signed_at = self.leased_at(held_item)
        if signed_at is None:
            return None
        return submitted_item(
            held_item.item,
            user_id=self.person.pk,
            guideline=guideline,
            since=signed_at,
            at=timezone.now(),
        )


class SkipApi(JudgingApi):
    """Skipped items."""

    @documented(responses.FollowingSerializer, request=HeldItemSerializer)
    def post(self, request: Request, **path: str) -> Response:
        """Skip an item until the end of the topic, and return the next item."""
        held_item = read_item(request.data)
        self.require_lease(held_item)
        stack = self.require_place().stack
        leases.skip_item(item_id=held_item.item, seat=self.seat, at=timezone.now())
        following = leases.take_next(
            stack=stack, seat=self.seat, have=held_item.have, at=timezone.now()
        )
        return Response({"next": self.shown(following)})


class LeaseApi(JudgingApi):
    """The lease of an item."""

    @documented(responses.LeaseSerializer, request=HeldItemSerializer)
    def post(self, request: Request, **path: str) -> Response:
        """Renew the lease of an item, and return the topic's progress.

        The request fails if another assessor holds the item.
        """
        held_item = read_item(request.data)
        self.require_lease(held_item)
        stack = self.require_place().stack
        lease = leases.renew_lease(item_id=held_item.item, seat=self.seat, at=timezone.now())
        return Response({**lease._asdict(), "progress": progress_of(stack, self.person.pk)})
