"""Every address, every role: which status answers. An address that is not in the table fails; 500
is in no row.

Roles, in this order: visitor (signed out), outsider (signed in, no role), member (of team Alpha,
whose run it is), rival (member of team Beta), assessor, organizer, superuser. 302 for a visitor
leads to the sign-in page.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.contrib.auth.models import AnonymousUser
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from arqlab.core.models import Job
from arqlab.core.services.tokens import create_token
from arqlab.notices.models import Notice
from arqlab.notices.services.invitations import invite_people
from arqlab.notices.services.mailing import send_message
from arqlab.notices.services.notifying import new_mail
from assessment.guidelines.services.versions import write_guideline
from assessment.models import DismissedFinding, PoolInstance, PoolItem, Round, Ticket
from assessment.rounds.services.rounds import apply_to_round, renew_link, reveal_round
from collection.models import Import
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.factories import assign, make_pool, raise_ticket
from tests.assessment.judging.desk import Desk, body_for, label_for
from tests.assessment.rounds.factories import questions_of, round_of, vote
from tests.collection.factories import load_small, make_import
from tests.evaluation.factories import make_qrels
from tests.factories import Scene, make_lab

ROLES = ("visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser")
TABLE = """
GET  account_change_password                   302 200 200 200 200 200 200
POST account_change_password                   302 200 200 200 200 200 200
GET  account_confirm_email                     200 200 200 200 200 200 200
POST account_confirm_email                     302 302 302 302 302 302 302
GET  account_confirm_login_code                302 302 302 302 302 302 302
POST account_confirm_login_code                302 302 302 302 302 302 302
GET  account_email                             302 200 200 200 200 200 200
POST account_email                             302 302 302 302 302 302 302
GET  account_email_verification_sent           200 200 200 200 200 200 200
GET  account_inactive                          200 200 200 200 200 200 200
GET  account_login                             200 302 302 302 302 302 302
POST account_login                             200 302 302 302 302 302 302
GET  account_logout                            302 200 200 200 200 200 200
POST account_logout                            302 302 302 302 302 302 302
GET  account_reauthenticate                    302 200 200 200 200 200 200
POST account_reauthenticate                    302 200 200 200 200 200 200
GET  account_reset_password                    200 200 200 200 200 200 200
POST account_reset_password                    200 200 200 200 200 200 200
GET  account_reset_password_done               200 200 200 200 200 200 200
GET  account_reset_password_from_key           200 200 200 200 200 200 200
POST account_reset_password_from_key           200 200 200 200 200 200 200
GET  account_reset_password_from_key_done      200 200 200 200 200 200 200
GET  account_set_password                      302 302 302 302 302 302 302
POST account_set_password                      302 302 302 302 302 302 302
GET  account_signup                            200 302 302 302 302 302 302
POST account_signup                            200 302 302 302 302 302 302
GET  admin:index                               302 302 302 302 302 302 200
GET  assessment:pool-detail               404 404 404 404 404 200 200
GET  assessment:pool-freeze               404 404 404 404 404 200 200
POST assessment:pool-freeze               302 404 404 404 404 422 422
GET  assessment:pool-list                 404 404 404 404 404 200 200
GET  assessment:pool-plan                 404 404 404 404 404 200 200
POST assessment:pool-close                302 404 404 404 404 302 302
POST assessment:pool-discard              302 404 404 404 404 302 302
POST assessment:pool-open                 302 404 404 404 404 302 302
POST assessment:qrels-current             302 404 404 404 404 302 302
GET  assessment:qrels-detail              404 404 404 404 404 200 200
GET  assessment:qrels-diff                404 404 404 404 404 200 200
GET  assessment:qrels-draft               404 404 404 404 404 200 200
GET  assessment:qrels-list                404 404 404 404 404 200 200
GET  assessment:qrels-freeze              404 404 404 404 404 200 200
POST assessment:qrels-freeze              302 404 404 404 404 422 422
POST assessment:qrels-delete              302 404 404 404 404 302 302
GET  assessment:api-judging-item          403 404 404 404 200 404 404
GET  assessment:api-judging-judgments     403 404 404 404 200 404 404
POST assessment:api-judging-judgments     403 404 404 404 200 404 404
POST assessment:api-judging-skip         403 404 404 404 200 404 404
POST assessment:api-judging-lease         403 404 404 404 200 404 404
GET  assessment:api-judging-next          403 404 404 404 200 404 404
GET  assessment:api-judging-related       403 404 404 404 200 404 404
GET  assessment:api-judging-comments      403 404 404 404 200 404 404
GET  assessment:api-judging-trip          403 404 404 404 200 404 404
POST assessment:api-judging-trip          403 404 404 404 200 404 404
POST assessment:api-judging-trip-end      403 404 404 404 200 404 404
GET  assessment:round-api-judging-item          403 404 404 404 200 404 404
GET  assessment:round-api-judging-judgments     403 404 404 404 200 404 404
POST assessment:round-api-judging-judgments     403 404 404 404 200 404 404
POST assessment:round-api-judging-skip         403 404 404 404 200 404 404
POST assessment:round-api-judging-lease         403 404 404 404 200 404 404
GET  assessment:round-api-judging-next          403 404 404 404 200 404 404
GET  assessment:round-api-judging-related       403 404 404 404 200 404 404
GET  assessment:round-api-judging-comments      403 404 404 404 200 404 404
GET  assessment:round-judge                     302 404 404 404 200 404 404
GET  assessment:round-judgment-list             302 404 404 404 200 404 404
POST assessment:sample-change             302 404 404 404 404 302 302
GET  assessment:sample-rate               302 404 404 404 404 200 200
POST assessment:sample-rate               302 404 404 404 404 200 200
GET  assessment:sample-join               200 200 200 200 200 200 200
POST assessment:sample-join               302 302 302 302 302 302 302
POST assessment:round-change              302 404 404 404 404 302 302
GET  assessment:meeting                   302 404 404 404 200 200 200
POST assessment:meeting                   302 404 404 404 404 200 200
GET  assessment:round-create              404 404 404 404 404 200 200
POST assessment:round-create              302 404 404 404 404 200 200
GET  evaluation:round-detail              302 404 404 404 200 200 200
GET  assessment:round-votes               302 404 404 404 404 200 200
GET  assessment:round-list                404 404 404 404 404 200 200
GET  assessment:offline-worker            200 200 200 200 200 200 200
POST assessment:trip-end                  302 404 404 404 404 302 302
POST assessment:assignment-apply          302 404 404 404 404 302 302
GET  assessment:assignment-import         404 404 404 404 404 200 200
POST assessment:assignment-import         302 404 404 404 404 200 200
GET  assessment:assignment-list           404 404 404 404 404 200 200
POST assessment:assignment-list           302 404 404 404 404 200 200
POST assessment:assignment-share          302 404 404 404 404 200 200
GET  assessment:assignment-plan           404 404 404 404 404 200 200
POST assessment:assignment-plan           302 404 404 404 404 200 200
GET  assessment:assignment-roster         404 404 404 404 404 200 200
POST assessment:assignment-roster         302 404 404 404 404 200 200
POST assessment:assignment-roster-hours   302 404 404 404 404 302 302
POST assessment:assignment-roster-invite  302 404 404 404 404 302 302
POST assessment:assignment-roster-remove  302 404 404 404 404 302 302
GET  assessment:bid-list                  302 404 404 404 200 404 404
POST assessment:bid-list                  302 404 404 404 302 404 404
POST assessment:bid-offer                 302 404 404 404 302 404 404
GET  assessment:guideline-changes         404 404 404 404 200 200 200
GET  assessment:guideline-entry-add       404 404 404 404 404 200 200
POST assessment:guideline-entry-add       302 404 404 404 404 200 200
GET  assessment:guideline-entry-list      404 404 404 404 404 200 200
POST assessment:guideline-entry-list      302 404 404 404 404 302 302
GET  assessment:guideline-judgment-list   404 404 404 404 404 200 200
POST assessment:guideline-judgment-list   302 404 404 404 404 302 302
GET  assessment:guideline-panel           302 404 404 404 200 200 200
GET  assessment:guideline-detail          404 404 404 404 200 200 200
GET  assessment:guideline-edit            404 404 404 404 404 200 200
POST assessment:guideline-edit            302 404 404 404 404 200 200
GET  assessment:judge                     302 404 404 404 200 404 404
GET  assessment:judgment-list             302 404 404 404 200 404 404
GET  assessment:judging-home              302 404 404 404 200 200 200
GET  assessment:judging-work              302 404 404 404 200 200 200
GET  assessment:judging-work-csv          302 404 404 404 200 200 200
GET  assessment:time-sheet                404 404 404 404 404 200 200
POST assessment:time-sheet                302 404 404 404 404 422 422
GET  assessment:time-sheet-csv            404 404 404 404 404 200 200
GET  assessment:radar-detail              404 404 404 404 404 302 302
POST assessment:radar-detail              302 404 404 404 404 302 302
GET  assessment:late-label-list           404 404 404 404 404 200 200
POST assessment:late-label-list           302 404 404 404 404 422 422
GET  assessment:radar-list                404 404 404 404 404 200 200
GET  assessment:ticket-detail             404 404 404 404 404 200 200
POST assessment:ticket-detail             302 404 404 404 404 200 200
GET  assessment:ticket-list               404 404 404 404 404 200 200
GET  assessment:ticket-repair             404 404 404 404 404 200 200
POST assessment:ticket-repair             302 404 404 404 404 422 422
POST assessment:ticket-send               302 404 404 404 404 302 302
GET  assessment:ticket-sent-list          404 404 404 404 200 200 200
GET  assessment:ticket-advice             404 404 404 404 404 200 404
POST assessment:ticket-advice             302 404 404 404 404 422 404
GET  assessment:ticket-policy             404 404 404 404 404 200 200
POST assessment:ticket-policy             302 404 404 404 404 422 422
GET  assessment:correction-list           404 404 404 404 404 200 200
POST assessment:correction-undo           302 404 404 404 404 302 302
GET  assessment:adjudication-detail       404 404 404 404 404 200 200
POST assessment:adjudication-detail       302 404 404 404 404 200 200
GET  evaluation:adjudication-list         404 404 404 404 404 200 200
GET  assessment:affected-judgment-list              404 404 404 404 404 200 200
GET  collection:collection-detail         404 404 404 404 404 200 200
GET  collection:import-detail             404 404 404 404 404 200 200
GET  collection:post-detail               200 200 200 200 200 200 200
GET  collection:visual-map-detail         404 404 404 404 404 200 200
GET  collection:topic-thread              404 404 404 404 200 200 200
GET  collection:formula-by-id             404 404 404 404 302 302 302
GET  collection:formula-detail            404 404 404 404 200 200 200
GET  collection:post-detail               200 200 200 200 200 200 200
GET  collection:post-list                 404 404 404 404 200 200 200
GET  core:account                         302 200 200 200 200 200 200
POST core:account                         302 302 302 302 302 302 302
GET  core:lab-create                      302 403 403 403 403 403 200
POST core:lab-create                      302 403 403 403 403 403 200
GET  core:task-create                     404 404 404 404 404 200 200
POST core:task-create                     302 404 404 404 404 200 200
GET  desk:lab-delete                     404 404 404 404 404 200 200
POST desk:lab-delete                     302 404 404 404 404 200 200
GET  desk:task-delete                    404 404 404 404 404 200 200
POST desk:task-delete                    302 404 404 404 404 200 200
POST core:lab-archive                     302 404 404 404 404 302 302
POST core:lab-restore                     302 404 404 404 404 302 302
POST core:task-archive                    302 404 404 404 404 302 302
POST core:task-restore                    302 404 404 404 404 302 302
GET  desk:lab-load                       302 403 403 403 403 403 200
POST desk:lab-load                       302 403 403 403 403 403 422
GET  desk:candidates-load                404 404 404 404 404 200 200
POST desk:candidates-load                302 404 404 404 404 422 422
GET  desk:topic-choose                   404 404 404 404 404 404 404
POST desk:topic-choose                   302 404 404 404 404 404 404
GET  desk:candidate-list                 404 404 404 404 404 404 404
GET  desk:load-list                      404 404 404 404 404 200 200
GET  desk:collection-load                404 404 404 404 404 200 200
POST desk:collection-load                302 404 404 404 404 422 422
POST desk:visual-ids-make                302 404 404 404 404 302 302
GET  desk:task-load                      404 404 404 404 404 200 200
POST desk:task-load                      302 404 404 404 404 422 422
GET  desk:load-detail                    404 404 404 404 404 200 200
POST desk:load-stop                      302 404 404 404 404 302 302
POST desk:load-repeat                    302 404 404 404 404 302 302
GET  desk:lab-copy                       404 404 404 404 404 403 200
POST desk:lab-copy                       302 404 404 404 404 403 200
GET  core:api-docs                        200 200 200 200 200 200 200
GET  core:api-lab-detail                  200 200 200 200 200 200 200
GET  core:api-lab-list                    200 200 200 200 200 200 200
GET  core:api-schema                      200 200 200 200 200 200 200
GET  core:api-task-detail                 200 200 200 200 200 200 200
GET  core:api-task-list                   200 200 200 200 200 200 200
GET  core:audit-list                      404 404 404 404 404 200 200
GET  desk:home                            200 200 200 200 200 200 200
GET  desk:lab-detail                      200 200 200 200 200 200 200
GET  core:lab-edit                        404 404 404 404 404 200 200
GET  desk:lab-download                    404 404 404 404 404 200 200
GET  desk:task-download                   404 404 404 404 404 200 200
POST core:lab-edit                        302 404 404 404 404 200 200
GET  desk:lab-list                        200 200 200 200 200 200 200
GET  core:token-list                      302 200 200 200 200 200 200
POST core:token-list                      302 422 422 422 422 422 422
GET  core:token-revoke                    302 404 200 404 404 404 404
POST core:token-revoke                    302 404 302 404 404 404 404
GET  core:people-list                     404 404 404 404 404 200 200
POST core:people-list                     302 404 404 404 404 200 200
POST core:people-allow-team               302 404 404 404 404 302 302
POST core:people-revoke                   302 404 404 404 404 302 302
GET  desk:task-detail                     200 200 200 200 200 200 200
GET  core:task-edit                       404 404 404 404 404 200 200
POST core:task-edit                       302 404 404 404 404 200 200
GET  core:team-create                     302 200 200 200 200 200 200
POST core:team-create                     302 200 200 200 200 200 200
GET  core:team-detail                     302 404 200 404 404 200 200
GET  core:team-join                       200 200 200 200 200 200 200
POST core:team-join                       302 302 302 302 302 302 302
POST core:team-leave                      302 404 302 404 404 302 302
POST core:team-remove                     302 404 404 404 404 302 302
GET  core:team-edit                       302 404 200 404 404 200 200
POST core:team-edit                       302 404 200 404 404 200 200
POST core:team-renew                      302 404 302 404 404 302 302
GET  core:topic-detail                    200 200 200 200 200 200 200
GET  core:topic-information               404 404 404 404 404 200 200
POST core:topic-information               302 404 404 404 404 200 200
POST core:topic-information-apply         302 404 404 404 404 302 302
GET  core:topic-information-csv           404 404 404 404 404 200 200
GET  core:topic-information-upload        404 404 404 404 404 200 200
POST core:topic-information-upload        302 404 404 404 404 200 200
GET  core:topic-list                      200 200 200 200 200 200 200
GET  notices:message-list                      404 404 404 404 404 200 200
GET  notices:message-create                    404 404 404 404 404 200 200
POST notices:message-create                    302 404 404 404 404 200 200
GET  notices:message-detail                    404 404 404 404 404 200 200
GET  notices:invitation-list                   404 404 404 404 404 200 200
POST notices:invitation-list                   302 404 404 404 404 200 200
POST notices:invitation-resend                 302 404 404 404 404 302 302
POST notices:invitation-withdraw               302 404 404 404 404 302 302
GET  notices:invitation-accept                 200 200 200 200 200 200 200
POST notices:invitation-accept                 302 302 302 302 302 302 302
GET  notices:text-list                         404 404 404 404 404 200 200
GET  notices:text-edit                         404 404 404 404 404 200 200
POST notices:text-edit                         302 404 404 404 404 200 200
POST notices:text-restore                      302 404 404 404 404 302 302
GET  notices:mail-list                         404 404 404 404 404 200 200
POST notices:mail-retry                        302 404 404 404 404 302 302
GET  notices:notice-list                       302 200 200 200 200 200 200
GET  notices:notice-detail                     302 404 200 404 404 404 404
POST notices:notices-read                      302 302 302 302 302 302 302
POST notices:mail-preference                   302 302 302 302 302 302 302
GET  evaluation:api-leaderboard           404 404 404 404 404 200 200
GET  evaluation:api-run-scores            404 404 404 404 404 200 200
GET  evaluation:leaderboard-version       404 404 404 404 404 404 404
GET  evaluation:breakdown                 404 404 404 404 404 200 200
GET  evaluation:certificate-detail        404 404 404 404 404 200 200
POST evaluation:certificate-detail        302 404 404 404 404 302 302
GET  evaluation:comparison                404 404 404 404 404 200 200
GET  evaluation:comparison-matrix         404 404 404 404 404 200 200
GET  evaluation:progress                  404 404 404 404 404 200 200
GET  evaluation:look-alike-list           404 404 404 404 404 200 200
POST evaluation:look-alike-list           302 404 404 404 404 302 302
GET  evaluation:breakdown-instances       404 404 404 404 404 200 200
GET  evaluation:correlation-matrix        404 404 404 404 404 200 200
GET  evaluation:first-answers             404 404 404 404 404 404 404
GET  evaluation:paper-kit-detail          404 404 404 404 404 200 200
POST evaluation:paper-kit-detail          302 404 404 404 404 302 302
GET  evaluation:leaderboard               200 200 200 200 200 200 200
POST evaluation:leaderboard-hide          302 404 404 404 404 302 302
GET  evaluation:leaderboard-release       404 404 404 404 404 200 200
POST evaluation:leaderboard-release       302 404 404 404 404 422 422
GET  evaluation:provisional-board         404 404 404 404 404 200 200
GET  evaluation:qrels-effect              404 404 404 404 404 200 200
GET  evaluation:score-link                302 302 302 302 302 302 302
GET  evaluation:run-scores                404 404 404 404 404 200 200
GET  evaluation:run-ranking               404 404 404 404 404 200 200
GET  evaluation:topic-scores              404 404 404 404 404 200 200
GET  assessment:item-judgments            404 404 404 404 404 200 200
GET  submissions:api-run-detail           403 404 200 404 404 200 200
GET  submissions:api-run-list             403 200 200 200 404 200 200
POST submissions:api-run-list             403 400 202 400 404 202 202
GET  submissions:api-run-report           403 404 200 404 404 200 200
GET  desk:run-detail               302 404 200 404 404 200 200
GET  submissions:run-edit                 302 404 200 404 404 200 200
POST submissions:run-edit                 302 404 422 404 404 422 422
GET  submissions:run-file                 302 404 200 404 404 200 200
POST submissions:run-guess                302 200 200 200 404 200 200
GET  submissions:run-list                 302 200 200 200 404 200 200
GET  submissions:run-map                  404 404 404 404 404 200 200
GET  submissions:run-move                 302 404 404 404 404 200 200
POST submissions:run-move                 302 404 404 404 404 200 200
GET  submissions:run-system               302 404 200 404 404 200 200
POST submissions:run-system               302 404 302 404 404 302 302
GET  submissions:run-publish              302 404 200 404 404 200 200
POST submissions:run-publish              302 404 302 404 404 302 302
POST submissions:run-primary              302 404 302 404 404 302 302
GET  submissions:run-problems             302 404 200 404 404 200 200
GET  submissions:run-repaired             302 404 200 404 404 200 200
POST submissions:run-repaired             302 404 302 404 404 302 302
POST submissions:run-submit               302 404 302 404 404 302 302
GET  submissions:task-close               404 404 404 404 404 200 200
POST submissions:task-close               302 404 404 404 404 422 422
POST submissions:task-reopen              302 404 404 404 404 302 302
GET  submissions:run-upload               302 200 200 200 404 200 200
POST submissions:run-upload               302 422 302 422 404 302 302
GET  submissions:run-withdraw             302 404 200 404 404 200 200
POST submissions:run-withdraw             302 404 200 404 404 200 200
"""
# The administration's pages are Django's own; that nobody but a superuser gets in is in the table
# by their front page.
DJANGOS_OWN = {"admin"}


# The rounds of pages about a revealed round, and about applicants; other pages are about the first.
ROUND_OF = {
    "assessment:round-votes": "training-2",
    "assessment:meeting": "training-2",
    "assessment:sample-change": "sample-1",
    "assessment:sample-rate": "sample-1",
}
KIND_OF = {"desk:task-load": "topics", "assessment:round-create": "training"}


def rows() -> list[tuple[str, str, dict[str, int]]]:
    """Return the table's rows: method, name, and the status by role."""
    parsed = [line.split() for line in TABLE.strip().splitlines() if line]
    return [
        (method, name, dict(zip(ROLES, map(int, codes), strict=True)))
        for method, name, *codes in parsed
    ]


def named_addresses(patterns: list[URLPattern | URLResolver], namespace: str = "") -> Iterator[str]:
    """Return the full name of every URL of the project."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            if pattern.namespace not in DJANGOS_OWN:
                yield from named_addresses(pattern.url_patterns, inner)
        elif pattern.name:
            yield namespace + pattern.name


def test_every_url_is_in_the_table():
    assert set(named_addresses(get_resolver().url_patterns)) == {name for _, name, _ in rows()} - {
        "admin:index"
    }


def address(name: str, scene: Scene, run_id: int) -> str:
    """Return the path of a URL in the scene; only what it names is looked up."""
    known: dict[str, Callable[[], Any]] = {
        "lab": lambda: scene.lab.slug,
        "task": lambda: scene.task.slug,
        "run": lambda: run_id,
        "team": lambda: scene.team.pk,
        "user": lambda: scene.member.pk,
        "person": lambda: scene.assessor.pk,
        "token": lambda: token_of(name, scene),
        "invitation": lambda: first_key(scene.lab.invitations),
        "query_id": lambda: "A.1",
        "measure": lambda: "nDCG'",
        "post_id": lambda: "1",
        "doc_id": lambda: "10",
        "version": lambda: 1,
        "number": lambda: 1,
        "ticket": lambda: first_key(
            Ticket.objects.filter(judgment__instance__item__topic__task=scene.task)
        ),
        "repair": lambda: "text",
        "correction": lambda: 1,
        "record": lambda: first_key(Import.objects.filter(collection__labs=scene.lab)),
        "formula_id": lambda: "7",
        "visual_id": lambda: "70",
        "kind": lambda: KIND_OF.get(name, "deadline"),
        "load": lambda: first_key(Job.objects.filter(lab=scene.lab)),
        "instance": lambda: first_key(PoolInstance.official.filter(item__topic__task=scene.task)),
        "round": lambda: ROUND_OF.get(name, "training-1"),
        "item": lambda: first_key(
            PoolItem.objects.filter(
                topic__task=scene.task, assessor__isnull="round-" not in name
            ).order_by("pk")
        ),
        "notice": lambda: (
            Notice.objects.filter(user=scene.member).values_list("pk", flat=True).last()
        ),
        "message": lambda: first_key(scene.lab.messages),
        "mail": lambda: first_key(scene.lab.mails),
        "key": lambda: confirmation_key(scene),
        "finding": lambda: vanished_finding(scene),
        "uidb36": lambda: "1",
        "api_token": lambda: first_key(scene.member.api_tokens),
        "name": lambda: "audit.tsv" if name == "desk:lab-download" else "runs.zip",
    }
    return reverse(name, kwargs={key: known[key]() for key in parameters_of(name)})


def first_key(records: Any) -> int | None:
    """Return the primary key of the first of some records, or None."""
    return records.values_list("pk", flat=True).first()


def vanished_finding(scene: Scene) -> str:
    """Return the key of a dismissed finding whose labels changed: it leads to the radar."""
    DismissedFinding.objects.get_or_create(
        task=scene.task,
        key="k",
        defaults={"assessor": scene.assessor, "dismissed_at": datetime.now(UTC)},
    )
    return "k"


def token_of(name: str, scene: Scene) -> str:
    """Return the token of a link: of an invitation, of a sample task, or of a team."""
    if name == "notices:invitation-accept":
        return scene.lab.invitations.get().token
    if name == "assessment:sample-join":
        return str(Round.objects.get(task=scene.task, kind="sample").token)
    return scene.team.invitation_token


def confirmation_key(scene: Scene) -> str:
    """Return the key of the letter by which the outsider confirms an address."""
    person = scene.outsider
    address, _ = EmailAddress.objects.update_or_create(
        user=person, email=person.email, defaults={"verified": False}
    )
    return str(EmailConfirmationHMAC(address).key)


def body(name: str, scene: Scene, item: Any) -> dict[str, Any]:
    """Return what is posted to an address that takes more than its path, as arguments of the
    client.
    """
    file = ContentFile(b"A.1\t10\t1\t2.5\tnew\n", name="Alpha-task1-new-auto-both-A.tsv")
    place = {"item": item["item"], "lease": item["lease"]}
    labels = body_for(item, [label_for(instance, 3) for instance in item["instances"]])
    json = {"content_type": "application/json"}
    name = name.replace("assessment:round-", "assessment:")
    known: dict[str, dict[str, Any]] = {
        "assessment:api-judging-judgments": {"data": labels, **json},
        "assessment:api-judging-skip": {"data": place, **json},
        "assessment:api-judging-lease": {"data": place, **json},
        "assessment:api-judging-trip": {"data": {"hours": 24}, **json},
        "assessment:api-judging-trip-end": {"data": {"have": []}, **json},
        "evaluation:leaderboard-release": {"data": {"qrels": "v1"}},
        "submissions:api-run-list": {"data": {"file": file, "team": scene.team.name}},
        "submissions:run-upload": {"data": {"file": file, "team": scene.team.pk, "submit": "yes"}},
    }
    return known.get(name, {})


@cache
def parameters_of(name: str) -> list[str]:
    """Return the names of the parameters of a URL."""
    resolver = get_resolver()
    *namespaces, last = name.split(":")
    for namespace in namespaces:
        resolver = resolver.namespace_dict[namespace][1]
    [(_, parameters), *_] = resolver.reverse_dict.getlist(last)[0][0]
    return list(parameters)


def fill(scene: Scene, folder) -> Run:
    """Return the lab filled with posts, an import, qrels, a pool and a scored run of team Alpha.

    The assessor judges A.1 of the pool. The run has a problem and an unreleased leaderboard.
    """
    at = datetime(2026, 11, 21, tzinfo=UTC)
    create_token(user=scene.member, name="laptop", scope="read", days=90, at=at)
    make_import(load_small(scene.lab, folder), sha256=sha256(scene.lab.slug.encode()).hexdigest())
    Job.objects.create(kind="visual-ids", lab=scene.lab, created_at=at, updated_at=at)
    make_qrels(scene.task, {"A.1": {"10": 3, "47114711": 2}, "A.2": {"12": 2}})
    make_pool(scene.task)
    round_of(scene.task, "training", scene.assessor)
    round_of(scene.task, "second", scene.assessor)
    revealed = round_of(scene.task, "training", scene.assessor)
    reveal_round(round_=revealed, by=scene.organizer, at=at)
    sample = round_of(
        scene.task,
        "sample",
        scene.organizer,
        topics=["A.2"],
        source={"expert": scene.organizer.pk},
    )
    vote(sample, scene.organizer, "12", 3)
    questions_of(scene.task, scene.assessor)
    renew_link(round_=sample, by=scene.organizer)
    apply_to_round(round_=sample, user=scene.assessor, at=at)
    assign(scene.assessor, scene.task.topics.get(query_id="A.1"))
    raise_ticket(
        scene.assessor,
        PoolInstance.objects.filter(item__topic__task=scene.task).order_by("pk").first(),
        expert=scene.organizer,
        sent_at=at,
    )
    write_guideline(task=scene.task, text="<p>Judge.</p>", at=at, by=scene.organizer)
    file = ContentFile(
        b"A.1\t10\t1\t2.5\tours\r\nA.2\t12\t7\t1.5\tours\r\n",
        name="Alpha-task1-ours-auto-both-A.tsv",
    )
    [run] = submit_upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=at)
    validate_uploaded_run(run_id=run.pk, at=at)
    score_waiting(at=at)
    send_something(scene, at)
    return run


def send_something(scene: Scene, at: datetime) -> None:
    """Send a message to all teams and assessors, invite an assessor, and let an email fail."""
    words = {"subject": "Deadline extended", "text": "See https://example.org/.", "key": uuid4()}
    send_message(lab=scene.lab, audience="both", by=scene.organizer, **words)
    invite_people(
        lab=scene.lab, addresses=["ada@example.org"], role="assessor", team=None, by=scene.organizer
    )
    mail = new_mail(
        lab=scene.lab, address="nobody@example.org", subject="Hello", text="Hello.", at=at
    )
    mail.state, mail.error = "failed", "550 No such user"
    mail.save()


class Filled(NamedTuple):
    """A lab that everybody sees and a draft, both filled, the run of each, and the items that the
    assessor has: an official one and one of a round.
    """

    public: Scene
    run: Run
    item: Any
    round_item: Any
    draft: Scene
    draft_run: Run


@pytest.fixture(scope="module")
def filled(kept_db: None, tmp_path_factory) -> Filled:
    """Make both labs once."""
    public, draft = make_lab(), make_lab("draft", is_public=False)
    folder = tmp_path_factory.mktemp("filled")
    run = fill(public, folder)
    in_round = Desk(public.assessor, round="training-1")
    items = Desk(public.assessor).next(), in_round.next()
    return Filled(public, run, *items, draft, fill(draft, folder))


def status_of(method: str, path: str, scene: Scene, role: str, **sent: Any) -> int:
    """Return the status of a request by a user of a role."""
    client, person = Client(raise_request_exception=False), scene.people[role]
    if not isinstance(person, AnonymousUser):
        client.force_login(person)
    return int(getattr(client, method.lower())(path, **sent).status_code)


@pytest.mark.parametrize(
    ("method", "name", "expected"), rows(), ids=lambda part: part if isinstance(part, str) else ""
)
def test_a_url_answers_each_role_as_in_the_table(method, name, expected, filled, db):
    scene, found = filled.public, {}
    path = address(name, scene, filled.run.pk)

    for role in ROLES:
        item = filled.round_item if ":round-" in name else filled.item
        sent = body(name, scene, item) if method == "POST" else {}
        with transaction.atomic():
            found[role] = status_of(method, path, scene, role, **sent)
            transaction.set_rollback(True)

    assert found == expected


@pytest.mark.parametrize(
    "name", sorted({name for _, name, _ in rows() if "lab" in parameters_of(name)})
)
def test_nothing_of_a_draft_is_shown_to_users_without_a_role(name, filled, db):
    path = address(name, filled.draft, filled.draft_run.pk)
    found = {status_of("GET", path, filled.draft, role) for role in ("visitor", "outsider")}

    assert found <= {302, 403, 404, 405}


@pytest.mark.parametrize(
    "name",
    [
        "desk:run-detail",
        "submissions:run-file",
        "submissions:run-problems",
        "submissions:run-repaired",
        "submissions:api-run-report",
    ],
)
def test_a_run_is_not_found_under_another_task(name, filled, db):
    elsewhere, client = make_lab("elsewhere"), Client()
    client.force_login(filled.public.member)

    answer = client.get(reverse(name, args=["elsewhere", "task1", filled.run.pk]))

    assert answer.status_code == 404
    assert elsewhere.task.runs.count() == 0


VALUES = (
    "%00",
    "%0a",
    "%ff",
    "1e9",
    "-1",
    "9" * 30,
    "",
    "%5b",
    "%F0%9F%98%80",
    "json",
    "latex",
    "tsv",
)
PARAMETERS = (
    *(
        "page",
        "version",
        "format",
        "qrels",
        "measure",
        "sort",
        "q",
        "live",
        "also",
        "chart",
        "first",
    ),
    *("second", "before", "after", "k", "depth", "part", "topic", "run", "round", "test", "next"),
)
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
BODIES = (
    (b"a=1", "multipart/form-data"),
    (b"--b\r\n\xff", "multipart/form-data; boundary=b"),
    (b"a=%ff", f"{FORM}; charset=no-such"),
    (b"a=\xff\x00%00&label=1e9&reason=%00", FORM),
    (b"{", JSON),
    (b'"\xff', f"{JSON}; charset=no-such"),
    (b"[1e999]", JSON),
    (b'{"label": "\\u0000", "instance": 99999999999999999999}', JSON),
    (b"\x00", "text/plain; charset=no-such"),
    (b"", ""),
)


def test_no_broken_request_is_a_server_error(filled, db):
    """Send random requests, always the same ones. ARQLAB_FUZZ sends so many others."""
    requests = int(os.environ.get("ARQLAB_FUZZ", "0"))
    chance = random.Random(None if requests else 20)
    names = sorted(named_addresses(get_resolver().url_patterns))
    paths = [address(name, filled.public, filled.run.pk) for name in names]
    clients = [Client(raise_request_exception=False) for _ in range(2)]
    clients[1].force_login(filled.public.organizer)
    failures = []
    for _ in range(requests or 600):
        method = chance.choice(("GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "PROPFIND"))
        query = "&".join(
            f"{name}={chance.choice(VALUES)}"
            for name in chance.sample(PARAMETERS, k=chance.choice((0, 1, 1, 2, 6)))
        )
        data, content_type = (b"", "") if method == "GET" else chance.choice(BODIES)
        path = f"{chance.choice(paths)}?{query}"
        with transaction.atomic():
            client = chance.choice(clients)
            status = client.generic(method, path, data, content_type=content_type).status_code
            transaction.set_rollback(True)
        if status >= 500:
            failures.append((method, path, content_type, data))

    assert failures == []
