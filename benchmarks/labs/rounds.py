"""What surrounds the judgments of a lab: rounds, the plan of assignments, guidelines, and runs."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import polars as pl
from django.conf import settings

from arqkit.agreement.second_judging import draw_items, plan_second
from arqlab.core.models import Team, User
from assessment.assignments.services.planning import set_topics_aside
from assessment.guidelines.services.versions import Decision, record_case, write_guideline
from assessment.models import (
    Judgment,
    PayRule,
    PoolInstance,
    PoolItem,
    RosterEntry,
    Round,
    SecondPlan,
    TopicBid,
)
from assessment.models.kinds import KINDS
from assessment.rounds.forms.judged import USUAL, QuestionRoundForm
from assessment.rounds.selectors.adjudication import disagreement_queue
from assessment.rounds.selectors.items import drawn_from_pool
from assessment.rounds.selectors.second import copies_of_plan, open_second_items, second_items
from assessment.rounds.services.adjudication import Ruling, ask_third_opinion, decide_label
from assessment.rounds.services.rounds import RoundPlan, apply_to_round, reveal_round, start_round
from benchmarks.labs.judged import JudgedLab, make_judged, make_user
from contrib.radar.selectors.findings import findings_of
from contrib.radar.services.dismissing import dismiss_finding
from submissions.models import Run, Upload

CASES, DECIDED, DISMISSED = 30, 40, 5
SHARE = 0.1  # of the items are judged again


def make_lab_with_rounds(topics: int, items: int, *, applicants: int, runs: int) -> JudgedLab:
    """Make a lab with everything that organizers and assessors see of judging."""
    made = make_judged(topics, items)
    _plan_assignments(made)
    for people in (made.assessors[:4], made.assessors):
        _train(made, people)
    _select(made, applicants)
    judge_again(made)
    _adjudicate(made)
    _write_guidelines(made)
    _submit(made, runs)
    _ask(made)
    for finding in findings_of(made.task)[:DISMISSED]:
        note = "We talked about it."
        dismiss_finding(task=made.task, finding=finding, note=note, at=made.at, by=made.organizer)
    return made


def _plan_assignments(made: JudgedLab) -> None:
    """Fill the roster, mark all topics, and plan second assessors of some of them."""
    topics, at = list(made.task.topics.all()), made.at
    PayRule.objects.create(lab=made.task.lab, hourly_rate=20, currency="EUR")
    for number, person in enumerate(made.assessors):
        fields = {"hours": 40 + number, "added_at": at, "invited_at": at}
        RosterEntry.objects.create(task=made.task, user=person, **fields)
        TopicBid.objects.bulk_create(
            TopicBid(topic=topic, user=person, choice=choice, changed_at=at)
            for topic, choice in zip(topics, _cycle(number, len(topics)), strict=True)
        )
    SecondPlan.objects.bulk_create(
        SecondPlan(topic=topic, assessor=made.assessors[topic.position % 5], planned_at=at)
        for topic in topics[5::10]
    )
    set_topics_aside(task=made.task, topics=topics[9::40], at=at, by=made.organizer)


def _cycle(start: int, count: int) -> list[str]:
    values = TopicBid.Choice.values
    return [values[(start + number) % len(values)] for number in range(count)]


def _train(made: JudgedLab, people: Sequence[User]) -> None:
    """Train people with ten items of five topics, and reveal their votes."""
    copies = drawn_from_pool(made.task, made.task.topics.all()[:5], count=10, seed=len(people))
    plan = RoundPlan("training", {person.pk: copies for person in people})
    found = start_round(task=made.task, plan=plan, by=made.organizer, at=made.at)
    _vote(made, found)
    reveal_round(round_=found, by=made.organizer, at=made.at)


def _select(made: JudgedLab, applicants: int) -> None:
    """Let applicants judge three samples as the expert did."""
    copies = drawn_from_pool(made.task, made.task.topics.all()[:3], count=1, seed=3)
    plan = RoundPlan("sample", {made.organizer.pk: copies})
    plan = replace(plan, source={"expert": made.organizer.pk, "seed": 3})
    found = start_round(task=made.task, plan=plan, by=made.organizer, at=made.at)
    for number in range(applicants):
        apply_to_round(round_=found, user=make_user(f"applicant{number}"), at=made.at)
    _vote(made, found)


def judge_again(made: JudgedLab) -> None:
    """Have a share of the items judged again, and show the labels."""
    drawn = draw_items(second_items(open_second_items(made.task)), share=SHARE, seed=1)
    plan = plan_second(drawn, [one.pk for one in made.assessors], by_topic=False, seed=1)
    source = {"by": "share", "seed": 1, "share": 100 * SHARE}
    plan = RoundPlan("second", copies_of_plan(made.task, plan), source=source)
    found = start_round(task=made.task, plan=plan, by=made.organizer, at=made.at)
    _vote(made, found)
    reveal_round(round_=found, by=made.organizer, at=made.at)


def _ask(made: JudgedLab) -> None:
    """Ask two questions about five items of each topic."""
    topics = [topic.pk for topic in made.task.topics.all()]
    people = [person.pk for person in made.assessors]
    given = {**USUAL, "topics": topics, "people": people, "count": 5, "seed": 1}
    form = QuestionRoundForm(given, kind=KINDS["questions"], task=made.task, by=made.organizer)
    form.full_clean()
    found = start_round(task=made.task, plan=form.plan, by=made.organizer, at=made.at)
    _vote(made, found)


def _vote(made: JudgedLab, found: Round) -> None:
    """Judge all items of a round; every fifth label differs from the official one."""
    draw = random.Random(found.pk)
    official = Judgment.official.filter(is_current=True, instance__item__pool__task=made.task)
    truth = dict(official.values_list("instance__doc_id", "label"))
    instances = PoolInstance.objects.filter(item__pool=found.pool).select_related("item")
    Judgment.objects.bulk_create(
        Judgment(
            instance=one,
            assessor_id=one.item.assessor_id,
            label=draw.randrange(4) if draw.random() < 0.2 else truth.get(one.doc_id, 0) % 4,
            comment="The last step is missing." if draw.random() < 0.1 else "",
            active_ms=round(draw.lognormvariate(10.3, 0.7)),
            key=uuid4(),
            judged_at=made.at - timedelta(hours=draw.randrange(100)),
        )
        for one in instances
    )
    PoolItem.objects.filter(pool=found.pool).update(done_at=made.at)


def _adjudicate(made: JudgedLab) -> None:
    """Decide some disagreements, and ask for a third opinion about some others."""
    queue = disagreement_queue(made.task)["instance"].to_list()[: DECIDED + 5]
    found = PoolInstance.objects.select_related("item__topic").in_bulk(queue)
    for number, instance in enumerate(found[key] for key in queue):
        who = {"by": made.organizer, "at": made.at}
        if number < DECIDED:
            ruling = Ruling(number % 4, "The question asks for a proof.")
            decide_label(task=made.task, instance=instance, ruling=ruling, **who)
            continue
        judged = Judgment.objects.filter(instance__item__item=instance.item.item)
        keys = set(judged.values_list("assessor", flat=True))
        person = next(one for one in made.assessors if one.pk not in keys)
        ask_third_opinion(task=made.task, instances=[instance], person=person, **who)


def _write_guidelines(made: JudgedLab) -> None:
    """Collect cases, and publish them with a new text."""
    who = {"at": made.at, "by": made.organizer}
    for number in range(CASES):
        decision = Decision("It does not count.", 0, "It proves nothing.", place="Training 1")
        question = f"Does answer {number} count, which only restates the question?"
        record_case(task=made.task, question=question, decision=decision, **who)
    write_guideline(task=made.task, text="<p>Read the question first, then judge.</p>", **who)


def _submit(made: JudgedLab, runs: int) -> None:
    """Submit runs that retrieve the items of the pool in random orders."""
    team = Team.objects.create(lab=made.task.lab, name="Team")
    pooled = PoolItem.official.filter(pool__task=made.task).order_by("topic__position", "position")
    frame = pl.DataFrame(
        list(pooled.values_list("topic__query_id", "item")),
        schema={"topic": pl.String, "item": pl.String},
        orient="row",
    )
    for number in range(runs):
        tag, order = f"run{number:02}", pl.int_range(1, pl.len() + 1, dtype=pl.Int32)
        shuffled = frame.sample(fraction=1, shuffle=True, seed=number).sort(
            "topic", maintain_order=True
        )
        path = Path(settings.MEDIA_ROOT, "indexes", f"{tag}.parquet")
        path.parent.mkdir(parents=True, exist_ok=True)
        place = order.over("topic")
        shuffled.with_columns(
            post="item", rank=place.cast(pl.Int64), score=1 / place, order=place
        ).write_parquet(path)
        known = {"name": f"{tag}.tsv", "size": 1, "sha256": "0" * 64}
        Run.objects.create(
            task=made.task,
            team=team,
            upload=Upload.objects.create(uploaded_at=made.at, **known),
            tag=tag,
            identifier=tag,
            submitted_at=made.at,
            status="valid",
            status_changed_at=made.at,
            report={"items": "posts", "order": "score"},
            index=f"indexes/{tag}.parquet",
        )
