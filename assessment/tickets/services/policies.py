"""The handling of reported items under the policy of their task."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime

from django.db import transaction

from arqkit.formats.labs.folder import JudgingRules
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.labs.selectors import person_named
from arqlab.labs.services.archiving import require_unarchived
from assessment.assignments.services.assigning import return_items
from assessment.guidelines.selectors.versions import guideline_text
from assessment.guidelines.services.versions import write_guideline
from assessment.models import Assignment, Judgment, PoolItem, Ticket, TicketPolicy
from assessment.tickets.selectors import policy_of, tickets_of
from assessment.tickets.services.answers import record_ticket, send_ticket

Action = TicketPolicy.Action


def load_judging_rules(*, task: Task, rules: JudgingRules, at: datetime, by: User | None) -> None:
    """Store guidelines and the policy of a folder that were not loaded before.

    A task with a version of the same text, or with a policy, keeps what it has: changes made in
    the browser survive. Raise `UserError` for an unknown expert; the caller has a transaction.
    """
    if rules.guidelines is not None:
        text = rules.guidelines.replace("\r\n", "\n").strip() + "\n"
        is_default = text == guideline_text(task, None)
        if not is_default and not task.guidelines.filter(text=text).exists():
            write_guideline(task=task, text=text, at=at, by=by)
    if rules.actions and not TicketPolicy.objects.filter(task=task).exists():
        edit_policy(
            task=task,
            actions=rules.actions,
            expert=person_named(rules.expert) if rules.expert else None,
            expert_closes=rules.expert_closes,
            by=by,
        )


@transaction.atomic
def edit_policy(
    *,
    task: Task,
    actions: Mapping[str, str],
    expert: User | None,
    expert_closes: bool,
    by: User | None,
) -> None:
    """Change the policy of a task for new labels. Raise `UserError` if it lacks the expert."""
    require_unarchived(task)
    if Action.EXPERT in actions.values() and expert is None:
        raise UserError("Choose the expert who gets the tickets.", code="no-expert")
    before = policy_of(task)
    after = {"actions": dict(actions), "expert": expert, "expert_closes": expert_closes}
    if all(getattr(before, name) == value for name, value in after.items()):
        return
    TicketPolicy.objects.update_or_create(task=task, defaults=after)
    record_event(
        "ticket_policy.edit",
        task,
        by,
        before=before.actions,
        after=dict(actions),
        expert=expert.get_username() if expert else "",
        expert_closes=expert_closes,
    )


def apply_policies(tickets: Iterable[int], *, at: datetime) -> None:
    """Apply the policies of their tasks to the open tickets of labels that count.

    The caller has a transaction. A ticket that cannot be sent or returned waits for the organizers.
    So do tickets of rounds, whose items belong to one assessor.
    """
    item = "judgment__instance__item"
    counting = Ticket.objects.filter(
        pk__in=tickets, answered_at=None, judgment__is_current=True, **{f"{item}__assessor": None}
    )
    labels = counting.values_list("pk", "judgment__label", f"{item}__topic__task")
    by_task: dict[int, dict[int, int]] = {}
    for ticket, label, task in labels.order_by("pk"):
        by_task.setdefault(task, {})[ticket] = label
    for task in Task.objects.filter(pk__in=by_task).select_related("lab", "ticket_policy__expert"):
        _apply_policy(task, by_task[task.pk], at)


def _apply_policy(task: Task, labels: Mapping[int, int], at: datetime) -> None:
    """Apply the policy of a task to its tickets, whose labels are by their ids."""
    policy = policy_of(task)
    actions = {ticket: policy.action_of(label) for ticket, label in labels.items()}
    acting = [ticket for ticket, action in actions.items() if action != Action.WAIT]
    for ticket in tickets_of(task.lab).filter(pk__in=acting):
        if actions[ticket.pk] == Action.ANOTHER:
            _return_to_another(ticket, at)
        elif policy.expert:
            question = "The task's policy sends tickets with this label to you."
            # The organizers see the ticket of an expert who reported the item or lost their role.
            with suppress(UserError):
                send_ticket(ticket=ticket, expert=policy.expert, question=question, at=at, by=None)


def _return_to_another(ticket: Ticket, at: datetime) -> None:
    """Return the item for another assessor of its topic, if there is one; but only once."""
    judgment = ticket.judgment
    others = Assignment.objects.filter(topic=ticket.topic, ended_at=None)
    items = PoolItem.official.filter(pk=judgment.instance.item_id)
    # Of a label without a name, nobody knows who else is another assessor.
    if judgment.assessor is None or not others.exclude(assessor=judgment.assessor).exists():
        return
    if not items.filter(kept_from=None).update(kept_from=judgment.assessor):
        return
    return_items(items)
    Judgment.objects.filter(pk=judgment.pk).update(is_current=False)
    text = "The item went to another assessor, as the task's policy requires."
    Ticket.objects.filter(pk=ticket.pk, answered_at=None).update(answer=text, answered_at=at)
    record_ticket("ticket.return", ticket, None, kept_from=judgment.assessor.get_username())
