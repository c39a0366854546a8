"""The page on which organizers decide about one disagreement."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Task, User
from arqlab.core.views import edited, signed_in, told
from arqlab.labs.forms.people import NamedChoiceField
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages, number_of, url_of
from assessment.guidelines.services.versions import Decision, item_of_instance, record_case
from assessment.models import GuidelineEntry, Judgment, PoolInstance
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.adjudication import (
    OPEN,
    adjudication_of,
    disagreement_queue,
    opinions_of,
    third_assessors,
)
from assessment.rounds.services.adjudication import (
    LONGEST_REASON,
    Ruling,
    ask_third_opinion,
    decide_label,
    painted_marks,
    shown_instance,
    withdraw_decision,
)

pages = Pages(f"{TASK}adjudication/<number:instance>/", organized_task_or_404, section="rounds")

PAGE = "assessment/rounds/adjudication_detail.html"


class RulingForm(VersionedForm):
    """The label that a meeting decided, why, and the question it answers for the guidelines."""

    label = forms.TypedChoiceField(coerce=int, error_messages={"required": "Choose a label."})
    reason = forms.CharField(
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=LONGEST_REASON,
        error_messages={"required": "Write why this label was decided."},
    )
    question = forms.CharField(
        label="Question for the guidelines",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST_REASON,
        required=False,
        help_text="If the decision answers a question of interpretation, write it here. The "
        "question, the label and the reason are collected for the next version of the guidelines.",
    )

    def __init__(self, *args: Any, task: Task, decision: Judgment | None, **kwargs: Any) -> None:
        """Offer the labels of a task that are judgments, and begin with the current decision."""
        super().__init__(*args, **kwargs)
        self.decision = decision
        if decision:
            self.initial = {"label": decision.label, "reason": decision.reason}
        labels = [
            ("", "choose a label"),
            *((label.value, label.word) for label in task_scale(task).judgments),
        ]
        self.fields["label"].choices = labels  # type: ignore[attr-defined]

    @property
    def ruling(self) -> Ruling:
        """Return the decision, in place of the current one."""
        fields, current = self.cleaned_data, self.decision
        return Ruling(fields["label"], fields["reason"], current.pk if current else None)


class ThirdOpinionForm(forms.Form):
    """The assessor to ask for a third opinion."""

    person = NamedChoiceField(
        User.objects.none(),
        label="Assessor",
        empty_label="choose an assessor",
        error_messages={
            "required": "Choose an assessor.",
            "invalid_choice": "This person has judged the item, or no longer judges in this lab. "
            "Choose another assessor.",
        },
    )

    def __init__(self, *args: Any, task: Task, instance: PoolInstance, **kwargs: Any) -> None:
        """Offer the assessors who have not judged the item."""
        super().__init__(*args, **kwargs)
        people = self.fields["person"]
        people.queryset = third_assessors(task, instance)  # type: ignore[attr-defined]


@pages.form("", "adjudication-detail")
def adjudication_detail(request: HttpRequest, task: Task, instance: int) -> HttpResponse:
    """Show an official instance with its labels, and decide about it.

    A POST request has the `action`: `decide`, `ask` or `withdraw`.
    """
    official = PoolInstance.official.select_related("item__pool", "item__topic__task__lab")
    item = get_object_or_404(official, item__pool__task=task, pk=instance)
    action = request.POST.get("action", "")
    back = redirect(url_of("adjudications", task.lab.slug, task.slug))

    def make(data: QueryDict | None) -> RulingForm:
        decision = adjudication_of(task, item).decision
        return RulingForm(data, task=task, decision=decision, initial=_proposal(task, item))

    def save(form: RulingForm) -> HttpResponse:
        messages.success(request, _decide(task, item, form, by=signed_in(request)))
        return back

    ruling, answer = edited(request, item, make, save) if action == "decide" else (make(None), None)
    if answer:
        return answer
    third = ThirdOpinionForm(request.POST if action == "ask" else None, task=task, instance=item)
    if action == "withdraw" or (action == "ask" and third.is_valid()):
        with told(request):
            messages.success(request, _change(task, item, request, third))
            return back
        return redirect(request.path)
    form = third if action == "ask" else ruling
    context = {"form": form, "ruling_form": ruling, "third_form": third, **_context(task, item)}
    return render(request, PAGE, context, status=422 if form.errors else 200)


def _proposal(task: Task, instance: PoolInstance) -> dict[str, object]:
    """Return the proposal of an expert as the initial values of a decision."""
    proposed = [opinion for opinion in opinions_of(task, instance) if opinion.judgment is None]
    return {"label": proposed[-1].label.value, "reason": proposed[-1].comment} if proposed else {}


def _change(
    task: Task, instance: PoolInstance, request: HttpRequest, form: ThirdOpinionForm
) -> str:
    """Carry out a valid request and return the message about it."""
    by, at = signed_in(request), timezone.now()
    if form.is_bound:
        person = form.cleaned_data["person"]
        instances = _open_instances(task, instance)
        ask_third_opinion(task=task, instances=instances, person=person, by=by, at=at)
        return f"{person.name} is asked for a third opinion."
    seen_decision = number_of(request.POST.get("seen", ""))
    withdraw_decision(task=task, instance=instance, seen_decision=seen_decision, by=by, at=at)
    return f"Withdrawn. The official label counts.{_about_earlier_case(instance)}"


def _decide(task: Task, instance: PoolInstance, form: RulingForm, *, by: User) -> str:
    fields, ruling, at = form.cleaned_data, form.ruling, timezone.now()
    decide_label(task=task, instance=instance, ruling=ruling, by=by, at=at)
    word, earlier = task_scale(task).of(ruling.label).word, _about_earlier_case(instance)
    if not fields["question"].strip():
        return f"Decided: {word}. This label counts from now on.{earlier}"
    decision = Decision(
        f"The label is {word}.",
        ruling.label,
        ruling.reason,
        origin=GuidelineEntry.Origin.ADJUDICATION,
    )
    item = item_of_instance(instance)
    record_case(task=task, question=fields["question"], decision=decision, item=item, at=at, by=by)
    return (
        f"Decided: {word}. The case is collected for the next version of the guidelines.{earlier}"
    )


def _about_earlier_case(instance: PoolInstance) -> str:
    """Return a sentence about the case of an earlier decision, which the guidelines keep."""
    topic = instance.item.topic
    cases = topic.task.guideline_entries.filter(
        origin=GuidelineEntry.Origin.ADJUDICATION,
        topic=topic.query_id,
        item=instance.doc_id,
        until=None,
    )
    if not cases.exists():
        return ""
    return (
        " The case of the earlier decision is still among the examples and cases of the "
        "guidelines. Remove it there if it no longer holds."
    )


def _open_instances(task: Task, instance: PoolInstance) -> list[PoolInstance]:
    """Return an instance and the other open ones of its item, which are judged together."""
    queue = disagreement_queue(task)
    keys = [pk for pk, state in queue.select("instance", "state").iter_rows() if state == OPEN]
    others = instance.item.instances.filter(pk__in=keys).exclude(pk=instance.pk)
    return [instance, *others.select_related("item__topic")]


def _context(task: Task, instance: PoolInstance) -> dict[str, object]:
    """Return what the page shows: the item, its labels, and the state of its adjudication."""
    scale, state = task_scale(task), adjudication_of(task, instance)
    opinions = opinions_of(task, instance)
    return {
        "task": task,
        "lab": task.lab,
        "topic": instance.item.topic,
        "instance": instance,
        "shown": shown_instance(instance, lab_slug=task.lab.slug),
        "state": state,
        "history": [(judgment, scale.of(judgment.label)) for judgment in state.history],
        "decided": state.decision and scale.of(state.decision.label),
        "opinions": opinions,
        "marks": painted_marks((row.letter, row.name, row.judgment) for row in opinions),
    }
