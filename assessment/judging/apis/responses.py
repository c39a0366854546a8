"""What the doors of judging take and answer, for the description of the API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from arqlab.formats.qrels.judgments import LONGEST_COMMENT
from arqlab.ir.labels import LARGEST_VALUE
from assessment.models import PoolItem

HAVE = OpenApiParameter(
    "have", description="Ids of the items that the page has at hand, with commas between."
)


class WrongSerializer(serializers.Serializer[Any]):
    """One thing that is wrong; without an instance it is about all that was sent."""

    instance = serializers.IntegerField(allow_null=True)
    field = serializers.CharField()
    found = serializers.CharField()
    expected = serializers.CharField()
    todo = serializers.CharField()


class JudgingRefusalSerializer(serializers.Serializer[Any]):
    """Why something was refused: a sentence for the person, a code for the page, and all problems
    at once.
    """

    message = serializers.CharField()
    code = serializers.CharField()
    errors = WrongSerializer(many=True)  # type: ignore[assignment]  # not the serializer's errors


REFUSALS = {
    400: OpenApiResponse(
        JudgingRefusalSerializer, description="`bad-label`, `bad-comment` or `malformed`."
    ),
    403: OpenApiResponse(JudgingRefusalSerializer, description="`signed-out` or `csrf`."),
    404: OpenApiResponse(
        JudgingRefusalSerializer, description="`not-found`: not a topic or item of the assessor's."
    ),
    409: OpenApiResponse(
        JudgingRefusalSerializer,
        description="`pool-closed`, `not-in-pool`, `forged-lease`, `leased-elsewhere`, `key-used` or `overtaken`.",
    ),
    413: OpenApiResponse(JudgingRefusalSerializer, description="`too-large`."),
}


LABEL: dict[str, Any] = {
    "min_value": 0,
    "max_value": LARGEST_VALUE,
    "help_text": "A value of the pool's scale.",
}


class OwnJudgmentSerializer(serializers.Serializer[Any]):
    """A judgment of the assessor's that counts."""

    judgment = serializers.IntegerField()
    label = serializers.IntegerField(**LABEL)  # type: ignore[assignment]  # not the field's label
    comment = serializers.CharField()
    judged_at = serializers.DateTimeField()


class InstanceSerializer(serializers.Serializer[Any]):
    """What gets one label."""

    instance = serializers.IntegerField()
    doc_id = serializers.CharField(
        help_text="As in qrels; blank for a written answer, whose id names its run."
    )
    heading = serializers.CharField()
    post_kind = serializers.CharField(help_text="`question`, `answer`, or blank.")
    title_html = serializers.CharField(help_text="The title of a question, safe.")
    html = serializers.CharField(
        help_text="The post, safe, its formulas typeset and the judged one marked."
    )
    thread_url = serializers.CharField(help_text="Blank where there is no thread.")
    judgment = OwnJudgmentSerializer(allow_null=True)


class ItemSerializer(serializers.Serializer[Any]):
    """An item as the judging page shows it."""

    item = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=PoolItem.Kind.choices)
    name = serializers.CharField(help_text="A post id, a visual id, or `Written answer`.")
    position = serializers.IntegerField()
    state = serializers.ChoiceField(choices=["waiting", "done", "later"])
    lease = serializers.CharField()
    until = serializers.DateTimeField()
    formula_html = serializers.CharField(help_text="The formula that is judged, typeset.")
    instances = InstanceSerializer(many=True)


class ProgressSerializer(serializers.Serializer[Any]):
    """The items of a topic."""

    total = serializers.IntegerField()
    done = serializers.IntegerField()
    later = serializers.IntegerField()


class NextSerializer(serializers.Serializer[Any]):
    """The next item; null when none is left."""

    item = ItemSerializer(allow_null=True)
    progress = ProgressSerializer()


class FollowingSerializer(serializers.Serializer[Any]):
    """The item that comes next; null when none is left."""

    next = ItemSerializer(allow_null=True)


class HeldItemSerializer(serializers.Serializer[Any]):
    """An item that the page holds."""

    item = serializers.IntegerField()
    lease = serializers.CharField()
    have = serializers.ListField(child=serializers.IntegerField(), required=False)


class LabelSerializer(serializers.Serializer[Any]):
    """A label for an instance."""

    instance = serializers.IntegerField()
    label = serializers.IntegerField(**LABEL)  # type: ignore[assignment]  # not the field's label
    key = serializers.UUIDField(
        help_text="Made once for each label: sent twice, it is stored once."
    )
    comment = serializers.CharField(required=False, max_length=LONGEST_COMMENT)
    reason = serializers.CharField(
        required=False, max_length=LONGEST_COMMENT, help_text="Why the label before was changed."
    )
    active_ms = serializers.IntegerField(required=False, allow_null=True)
    seen = serializers.IntegerField(
        required=False, allow_null=True, help_text="The current judgment that the page knew of."
    )
    after = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="The key of the label that it changes, where that was on its way.",
    )
    at = serializers.DateTimeField(
        required=False,
        help_text="When the label was given, by the page's clock; what cannot be is passed over.",
    )
    shown = serializers.CharField(
        required=False, help_text="The html that was seen, with labels that are not judgments."
    )


class LabelsSerializer(HeldItemSerializer):
    """Labels for instances of one item."""

    judgments = LabelSerializer(many=True)
    guideline = serializers.IntegerField(
        required=False, allow_null=True, help_text="The version that was read."
    )


class SavedLabelSerializer(serializers.Serializer[Any]):
    """A label as it was stored."""

    instance = serializers.IntegerField()
    judgment = serializers.IntegerField()
    key = serializers.UUIDField()
    label = serializers.IntegerField(**LABEL)  # type: ignore[assignment]  # not the field's label
    counts = serializers.BooleanField(help_text="False where the instance was judged meanwhile.")
    message = serializers.CharField()
    judged_at = serializers.DateTimeField()


class SavedSerializer(FollowingSerializer):
    """What was stored, whether the item is done, and the item that comes next."""

    saved = SavedLabelSerializer(many=True)
    done = serializers.BooleanField()


class LeaseSerializer(serializers.Serializer[Any]):
    """How long an item is the assessor's, and how far the topic is."""

    lease = serializers.CharField()
    until = serializers.DateTimeField()
    progress = ProgressSerializer()


class ListedJudgmentSerializer(OwnJudgmentSerializer):
    """A judgment in the list of a topic, with its place."""

    item = serializers.IntegerField()
    instance = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=PoolItem.Kind.choices)
    name = serializers.CharField()
    doc_id = serializers.CharField()
    position = serializers.IntegerField()


class OwnJudgmentsSerializer(serializers.Serializer[Any]):
    """The assessor's judgments of a topic that count, in the order of the items."""

    judgments = ListedJudgmentSerializer(many=True)
