"""The responses of the judging API, for the API schema."""

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from arqkit.labels import LARGEST_VALUE
from arqlab.core.apis import ErrorSerializer
from assessment.judging.apis.requests import MarkSerializer
from assessment.models import PoolItem

HAVE = OpenApiParameter(
    "have",
    {"type": "string", "pattern": "^([0-9]{1,18}(,[0-9]{1,18})*)?$"},
    description="Ids of the items that the page has loaded, separated by commas.",
)


_REFUSALS = {
    400: "`bad-label`, `bad-comment` or `malformed`.",
    401: "`signed-out`.",
    403: "`csrf`.",
    404: "`not-found`: the topic or item is not assigned to the user.",
    409: "`pool-closed`, `not-in-pool`, `forged-lease`, `leased-elsewhere`, `key-used`, "
    "`overtaken` or `no-text`.",
    413: "`too-large`.",
}
REFUSALS = {
    status: OpenApiResponse(ErrorSerializer, description=text) for status, text in _REFUSALS.items()
}


def _label() -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=0, max_value=LARGEST_VALUE, help_text="A label value of the pool's scale."
    )


class OwnJudgmentSerializer(serializers.Serializer[object]):
    """The assessor's current judgment of an instance."""

    judgment = serializers.IntegerField()
    label = _label()  # type: ignore[assignment]  # not the field's label
    comment = serializers.CharField()
    marks = MarkSerializer(many=True)
    judged_at = serializers.DateTimeField()


class QuestionSerializer(serializers.Serializer[object]):
    """A special question, which the labels answer."""

    text = serializers.CharField()
    help = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]  # not the field's label
        help_text="The word of the assessor's own official label of the item, or blank."
    )


class InstanceSerializer(serializers.Serializer[object]):
    """An instance, the unit that receives one label."""

    instance = serializers.IntegerField()
    text_of = serializers.IntegerField(
        help_text="The first instance in the same post, which has the text."
    )
    has_text = serializers.BooleanField(
        help_text="If False, the instance takes only labels that are not judgments."
    )
    formula = serializers.CharField(
        help_text="The id of the formula to judge, or blank for answers."
    )
    heading = serializers.CharField()
    title_html = serializers.CharField(help_text="Sanitized title of a question.")
    html = serializers.CharField(
        help_text="Sanitized post with typeset formulas; the formulas to judge are highlighted. "
        "Blank for further instances in a post."
    )
    thread_url = serializers.CharField(
        help_text="Blank if the post is missing, or if the pool hides threads."
    )
    question = QuestionSerializer(allow_null=True)
    judgment = OwnJudgmentSerializer(allow_null=True)


class ItemSerializer(serializers.Serializer[object]):
    """An item as the judging page shows it."""

    item = serializers.IntegerField()
    kind = serializers.ChoiceField(
        choices=[PoolItem.Kind.VISUAL_IDS.value, PoolItem.Kind.ANSWERS.value],
        help_text="`answers` for posts and for generated answers.",
    )
    position = serializers.IntegerField()
    state = serializers.ChoiceField(choices=["waiting", "done", "skipped"])
    lease = serializers.CharField()
    until = serializers.DateTimeField()
    formula_html = serializers.CharField(help_text="The formula to judge, typeset.")
    instances = InstanceSerializer(many=True)


class ProgressSerializer(serializers.Serializer[object]):
    """The judging progress of a topic."""

    total = serializers.IntegerField()
    done = serializers.IntegerField()
    skipped = serializers.IntegerField()


class NextSerializer(serializers.Serializer[object]):
    """The next item, or null if none is left, with the topic's progress."""

    item = ItemSerializer(allow_null=True)
    progress = ProgressSerializer()


class FollowingSerializer(serializers.Serializer[object]):
    """The next item, or null if none is left."""

    next = ItemSerializer(allow_null=True)


class SavedLabelSerializer(serializers.Serializer[object]):
    """A stored label."""

    instance = serializers.IntegerField()
    judgment = serializers.IntegerField()
    key = serializers.UUIDField()
    label = _label()  # type: ignore[assignment]  # not the field's label
    counts = serializers.BooleanField(
        help_text="False if another assessor judged the instance first."
    )
    message = serializers.CharField()
    judged_at = serializers.DateTimeField()


class SavedSerializer(FollowingSerializer):
    """The stored labels, whether the item is done, and the next item."""

    saved = SavedLabelSerializer(many=True)
    done = serializers.BooleanField()


class LeaseSerializer(serializers.Serializer[object]):
    """A renewed lease and the topic's progress."""

    lease = serializers.CharField()
    until = serializers.DateTimeField()
    progress = ProgressSerializer()


class ListedJudgmentSerializer(OwnJudgmentSerializer):
    """A judgment in the list of a topic, with its position."""

    item = serializers.IntegerField()
    instance = serializers.IntegerField()
    position = serializers.IntegerField()


class OwnJudgmentsSerializer(serializers.Serializer[object]):
    """The assessor's current judgments of a topic, in the order of the items."""

    judgments = ListedJudgmentSerializer(many=True)


class RelatedLabelSerializer(serializers.Serializer[object]):
    """A label that the assessor gave to a related item."""

    item = serializers.IntegerField()
    topic = serializers.CharField()
    position = serializers.IntegerField()
    label = _label()  # type: ignore[assignment]  # not the field's label
    url = serializers.CharField(help_text="Address of the item on the judging page.")


class ThreadLabelsSerializer(serializers.Serializer[object]):
    """The labels of other items of the topic in the thread of an instance."""

    instance = serializers.IntegerField()
    labels = RelatedLabelSerializer(many=True)


class RelatedLabelsSerializer(serializers.Serializer[object]):
    """The assessor's own labels of items with the same thread, and with the same formula."""

    threads = ThreadLabelsSerializer(many=True)
    formula = RelatedLabelSerializer(many=True)


class RecentCommentsSerializer(serializers.Serializer[object]):
    """The assessor's last different comments in a task, newest first."""

    comments = serializers.ListField(child=serializers.CharField())
