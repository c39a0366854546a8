"""The meeting about a round: its disagreements one by one, and the decisions of the expert."""

from collections.abc import Mapping
from typing import NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqkit.agreement.votes import disagreements, judgments_only
from arqkit.labels import ScaleLabel
from arqlab.core.views import refused, signed_in
from arqlab.labs.permissions import may_see_thread
from arqlab.web import TASK, Pages, number_of
from assessment.guidelines.services.rendering import shown_entries
from assessment.guidelines.services.versions import Decision, item_of_instance, record_case
from assessment.models import GuidelineEntry, Judgment, PoolInstance, Round
from assessment.rounds.forms.drawn import DecisionForm
from assessment.rounds.permissions import SeenRound, revealed_round_or_404
from assessment.rounds.selectors.votes import (
    GOLD,
    SEPARATOR,
    agreement_votes,
    gold_labels,
    own_names,
    pseudonyms,
)
from assessment.rounds.services.adjudication import painted_marks, shown_instance

pages = Pages(
    f"{TASK}rounds/<slug:round>/meeting/", revealed_round_or_404, section="rounds", sign_in=True
)


class Disagreement(NamedTuple):
    """An item with different labels: its topic, its id in qrels, and its extreme labels.

    Pages show its position in the topic: the id of a generated answer names its run.
    """

    topic: str
    doc_id: str
    position: int
    votes: int
    lowest: ScaleLabel
    highest: ScaleLabel
    is_binary: bool


class MeetingVote(NamedTuple):
    """A vote as a meeting shows it: by a pseudonym. Gold labels have no seconds and no judgment."""

    name: str
    label: ScaleLabel
    comment: str = ""
    seconds: float | None = None
    judgment: Judgment | None = None

    @property
    def letter(self) -> str:
        """Return the letter of a pseudonym: A for Assessor A and You (Assessor A)."""
        return self.name.removesuffix(")").rpartition(" ")[2]


def meeting_items(round_: Round) -> list[Disagreement]:
    """Return the disagreements of a round among labels that are judgments, largest first."""
    scale = round_.pool.label_scale
    votes = judgments_only(agreement_votes(round_), scale)
    rows = disagreements(votes, relevant_from=round_.task.protocol.relevant_in(scale))
    copies = PoolInstance.objects.filter(item__pool=round_.pool).order_by()
    positions = {
        (topic, doc_id): position
        for topic, doc_id, position in copies.values_list(
            "item__topic__query_id", "doc_id", "item__position"
        )
    }
    keys = [tuple(key.split(SEPARATOR, 1)) for key in rows["item"]]
    return [
        Disagreement(
            topic,
            doc_id,
            positions[topic, doc_id],
            row["votes"],
            scale.of(row["lowest"]),
            scale.of(row["highest"]),
            row["is_binary"],
        )
        for (topic, doc_id), row in zip(keys, rows.iter_rows(named=True), strict=True)
    ]


def meeting_votes(
    round_: Round, topic: str, doc_id: str, names: Mapping[str, str]
) -> list[MeetingVote]:
    """Return the votes on an item in the order of the names; `names` has one for each assessor."""
    scale = round_.pool.label_scale
    judged = Judgment.objects.filter(
        instance__item__pool=round_.pool,
        instance__item__topic__query_id=topic,
        instance__doc_id=doc_id,
        is_current=True,
    )
    votes = {
        str(judgment.assessor_id): MeetingVote(
            names[str(judgment.assessor_id)],
            scale.of(judgment.label),
            judgment.comment,
            None if judgment.active_ms is None else judgment.active_ms / 1000,
            judgment,
        )
        for judgment in judged
    }
    gold = gold_labels(round_).get((topic, doc_id))
    if gold is not None:
        votes[GOLD] = MeetingVote(names[GOLD], scale.of(gold))
    return [votes[key] for key in names if key in votes]


def meeting_instance(round_: Round, topic: str, doc_id: str) -> PoolInstance:
    """Return an instance of an item, from the copy of any assessor."""
    copies = PoolInstance.objects.filter(
        item__pool=round_.pool, item__topic__query_id=topic, doc_id=doc_id
    )
    return copies.select_related("item__topic__task__lab").order_by("pk")[0]


@pages.form("", "meeting")
def meeting(request: HttpRequest, visible: SeenRound) -> HttpResponse:
    """Show a disagreement of a revealed round (`at`), and record the decision of the expert."""
    round_ = visible.round
    if request.method == "POST" and not visible.organizes:
        raise Http404
    items = meeting_items(round_)
    place = max(1, min(number_of(request.GET.get("at", "")) or 1, len(items)))
    context: dict[str, object] = {"task": round_.task, "lab": round_.task.lab, "round": round_}
    context |= {"organizes": visible.organizes, "items": items, "place": place}
    form = None
    if items:
        instance = meeting_instance(round_, items[place - 1].topic, items[place - 1].doc_id)
        form = DecisionForm(request.POST or None, scale=round_.pool.label_scale)
        if form.is_valid() and _decided(request, round_, instance, form):
            return redirect(request.get_full_path())
        context |= _item_context(request, visible, items[place - 1], instance)
    context["form"], status = form, 422 if form and form.errors else 200
    return render(request, "assessment/rounds/meeting.html", context, status=status)


def _item_context(
    request: HttpRequest, visible: SeenRound, item: Disagreement, instance: PoolInstance
) -> dict[str, object]:
    round_, user = visible.round, signed_in(request)
    cases = round_.task.guideline_entries.filter(
        kind=GuidelineEntry.Kind.CASE, topic=item.topic, item=item.doc_id
    )
    lab = round_.task.lab
    # Organizers share their screen, which must not tell their own vote.
    names = pseudonyms(round_) if visible.organizes else own_names(round_, user)
    votes = meeting_votes(round_, item.topic, item.doc_id, names)
    return {
        "item": item,
        "topic": instance.item.topic,
        "has_thread": round_.task.words.has_threads and may_see_thread(user, instance.item.topic),
        "shown": shown_instance(instance, lab_slug=lab.slug),
        "votes": votes,
        "marks": painted_marks((vote.letter, vote.name, vote.judgment) for vote in votes),
        "cases": shown_entries(cases, scale=round_.pool.label_scale),
    }


def _decided(
    request: HttpRequest, round_: Round, instance: PoolInstance, form: DecisionForm
) -> bool:
    """Collect the decision for the next guidelines; return False if it was refused."""
    fields = form.cleaned_data
    origin = GuidelineEntry.Origin.TRAINING
    decision = Decision(
        fields["decision"], fields["label"], fields["reason"], origin=origin, place=str(round_)
    )
    with refused(form):
        record_case(
            task=round_.task,
            question=fields["question"],
            decision=decision,
            item=item_of_instance(instance),
            at=timezone.now(),
            by=signed_in(request),
        )
        messages.success(
            request,
            "Collected for the next version of the guidelines. Publish it after the meeting.",
        )
        return True
    return False
