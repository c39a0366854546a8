"""Every address, every role: who gets in, by the question that the page declares.

Roles, in this order: visitor (signed out), outsider (signed in, no role), member (of team Alpha,
whose run it is), member of team Beta, assessor, organizer, superuser. Others get 403 or 404, or are
led to the sign-in page. A question that is not in the table fails, and so does a server error.
"""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from http.cookies import SimpleCookie
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import AnonymousUser
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve, reverse

from arqlab.accounts.services.tokens import create_token
from arqlab.accounts.signedin import SessionStore
from arqlab.core.models import Job, Role, User
from arqlab.labs.services.people import grant_role
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
from tests.factories import Scene, UserFactory, make_lab

pytestmark = pytest.mark.once
ROLES = ("visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser")
ALL, SIGNED_IN, ORGANIZERS, ASSESSOR = ROLES, ROLES[1:], ROLES[5:], ("assessor",)
STAFF, TEAM = (*ASSESSOR, *ORGANIZERS), ("member", *ORGANIZERS)
SUBMITTERS = ("outsider", "member", "other_member", *ORGANIZERS)
BY_ACCESS = {
    ORGANIZERS: """organized_lab_or_404 organized_task_or_404 organized_pool_or_404
        organized_round_or_404 organized_ticket_or_404 job_or_404 load_or_404 run_of_task_or_404""",
    STAFF: "looked_up_lab_or_404 looked_up_task_or_404 round_or_404 revealed_round_or_404",
    ASSESSOR: "bidding_task_or_404 official_place_or_404 round_place_or_404",
    TEAM: "run_or_404 team_or_404",
    SUBMITTERS: "runs_task_or_404",
    ALL: "lab_or_404 task_or_404",
    ("organizer",): "sent_ticket_or_404",
    (): "candidates_or_404 archive_or_404",
}
"""Who passes each question that pages ask; a page that wants a signed-in user has no visitors."""
BY_NAME = {
    ALL: """server:api-docs labs:api-lab-detail labs:api-lab-list server:api-schema
        labs:api-task-detail labs:api-task-list labs:api-topic-list""",
    SIGNED_IN: """accounts:api-me teams:team-join:POST assessment:sample-join:POST
        notices:invitation-accept:POST""",
    STAFF: "collection:topic-thread",
    ORGANIZERS: """collection:import-detail desk:lab-download desk:task-download
        desk:api-lab-download desk:api-task-download
        jobs:api-job-list jobs:api-job-detail jobs:api-job-stop:POST
        evaluation:api-leaderboard evaluation:api-run-scores analyses:breakdown
        analyses:certificate-detail analyses:comparison analyses:comparison-matrix
        analyses:correlation-matrix analyses:progress evaluation:topic-scores
        submissions:run-move assessment:meeting:POST assessment:sample-rate""",
    TEAM: """submissions:api-run-detail submissions:api-run-report submissions:api-run-submit
        submissions:api-run-resubmit submissions:api-run-withdraw""",
    SUBMITTERS: "submissions:api-run-list",
    ("superuser",): "labs:lab-create desk:lab-load desk:lab-restore desk:lab-copy",
    ("member",): "accounts:token-revoke accounts:session-end notices:notice-detail",
    (): """evaluation:leaderboard-version analyses:first-answers evaluation:erratum-list
        evaluation:api-erratum-list evaluation:erratum-create""",
}
"""Who opens an address that asks further questions, or, before the release, sees its content."""
ALLAUTH = ("account_", "mfa_")
ACCOUNT = {
    ALL: """account_confirm_email account_email_verification_sent account_inactive account_login
        account_reset_password account_reset_password_done account_reset_password_from_key
        account_reset_password_from_key_done account_signup""",
    SIGNED_IN: """account_change_password account_email account_logout account_reauthenticate
        mfa_index mfa_activate_totp mfa_deactivate_totp mfa_download_recovery_codes
        mfa_generate_recovery_codes mfa_view_recovery_codes""",
    (): "account_confirm_login_code account_set_password mfa_authenticate mfa_reauthenticate",
}
"""The pages of django-allauth, which lead elsewhere whoever has no use for them."""
# The administration's pages are Django's own; nobody but a superuser gets in.
DJANGOS_OWN = {"admin"}
OF_ONE_ORGANIZER = ("assessment:ticket-advice",)
"""What an organizer opens as the person who was asked, not as an organizer."""
JSON = "application/json"
ROUND_OF = {
    "assessment:round-votes": "training-2",
    "assessment:meeting": "training-2",
    "assessment:sample-change": "sample-1",
    "assessment:sample-rate": "sample-1",
}
KIND_OF = {"desk:task-load": "topics", "assessment:round-create": "training"}


def roles_by(table: dict[tuple[str, ...], str]) -> dict[str, tuple[str, ...]]:
    """Return the roles for each name in a table."""
    return {name: roles for roles, names in table.items() for name in names.split()}


@cache
def rows() -> list[tuple[str, str, tuple[str, ...]]]:
    """Return method, name and roles that get in for every address, by its declaration."""
    passing, named = roles_by(BY_ACCESS), roles_by(BY_NAME)
    known: list[tuple[str, str, tuple[str, ...]]] = [
        ("GET", name, roles) for name, roles in roles_by(ACCOUNT).items()
    ]
    for name, view in named_views(get_resolver().url_patterns):
        page = getattr(view, "page", None)
        for method in page.methods if page else methods_of_api(view):
            roles = named.get(f"{name}:{method}", named.get(name))
            if roles is None and page:
                asked = passing[page.access.__name__] if page.access else ALL
                roles = tuple(role for role in asked if role != "visitor" or not page.sign_in)
            if method != "HEAD" and not name.startswith(ALLAUTH):
                known.append((method, name, ASSESSOR if roles is None else roles))
    return known


def methods_of_api(view: Any) -> list[str]:
    """Return the methods that a view of the API answers."""
    kind = getattr(view, "cls", None)
    return [method.upper() for method in ("get", "post", "patch") if hasattr(kind, method)]


def named_views(
    patterns: list[URLPattern | URLResolver], namespace: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield the full name and the view of every URL of the project."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            if pattern.namespace not in DJANGOS_OWN:
                yield from named_views(pattern.url_patterns, inner)
        elif pattern.name:
            yield namespace + pattern.name, pattern.callback


def named_addresses(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    """Yield the full name of every URL of the project."""
    yield from (name for name, _ in named_views(patterns))


def test_the_tables_name_only_what_there_is():
    views = dict(named_views(get_resolver().url_patterns))
    pages = [view.page for view in views.values() if hasattr(view, "page")]
    named = {name.removesuffix(":POST") for name in (*roles_by(BY_NAME), *roles_by(ACCOUNT))}

    assert named <= views.keys()
    assert {page.access.__name__ for page in pages if page.access} == set(roles_by(BY_ACCESS))
    assert {name for name in views if name.startswith(ALLAUTH)} == set(roles_by(ACCOUNT))


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
        "job": lambda: first_key(Job.objects.filter(lab=scene.lab)),
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
        "path": lambda: "index.html",
        "session": lambda: first_key(UserSession.objects.filter(user=scene.member)),
        "api_token": lambda: first_key(scene.member.api_tokens),
        "name": lambda: "audit.tsv" if name.endswith("lab-download") else "runs.zip",
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
    store = SessionStore()
    store.create()
    UserSession.objects.create(user=scene.member, session_key=store.session_key, ip="192.0.2.7")
    make_import(load_small(scene.lab, folder), sha256=sha256(scene.lab.slug.encode()).hexdigest())
    Job.objects.create(kind="visual-ids", lab=scene.lab, created_at=at, updated_at=at)
    make_qrels(scene.task, {"A.1": {"10": 3, "47114711": 2}, "A.2": {"12": 2}})
    make_pool(scene.task)
    round_of(scene.task, "training", scene.assessor)
    round_of(scene.task, "second", scene.assessor)
    revealed = round_of(scene.task, "training", scene.assessor)
    reveal_round(round_=revealed, by=scene.organizer, at=at)
    sample = round_of(
        scene.task, "sample", scene.organizer, topics=["A.2"], source={"expert": scene.organizer.pk}
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
    cookies: dict[str, SimpleCookie]
    observer: SimpleCookie


@pytest.fixture(scope="module")
def filled(kept_db: None, tmp_path_factory) -> Filled:
    """Make both labs once."""
    public, draft = make_lab(), make_lab("draft", is_public=False)
    folder = tmp_path_factory.mktemp("filled")
    run = fill(public, folder)
    in_round = Desk(public.assessor, round="training-1")
    items = Desk(public.assessor).next(), in_round.next()
    cookies = {role: cookies_of(person) for role, person in public.people.items()}
    observer = UserFactory()
    grant_role(lab=public.lab, user=observer, role=Role.OBSERVER, by=None)
    drafted = fill(draft, folder)
    return Filled(public, run, *items, draft, drafted, cookies, cookies_of(observer))


def cookies_of(person: User | AnonymousUser) -> SimpleCookie:
    """Return the cookies of a browser in which a user has signed in, or of a visitor."""
    client = Client()
    if isinstance(person, User):
        client.force_login(person)
    return client.cookies


def answer_to(method: str, path: str, cookies: SimpleCookie, **sent: Any) -> Any:
    """Return the answer to a request of a browser with some cookies."""
    client = Client(raise_request_exception=False)
    client.cookies = deepcopy(cookies)
    return getattr(client, method.lower())(path, **sent)


def gets_in(answer: Any) -> bool:
    """Return whether an answer is of the page, however it likes what it was sent."""
    assert answer.status_code < 500
    asks = answer.status_code == 302 and answer["Location"].startswith(reverse("account_login"))
    return not asks and answer.status_code not in (401, 403, 404, 405)


@pytest.mark.parametrize(
    ("method", "name", "roles"),
    [row for row in rows() if not row[1].startswith(ALLAUTH)],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_url_lets_in_the_roles_of_its_question(method, name, roles, filled, db):
    scene, entered = filled.public, []
    path = address(name, scene, filled.run.pk)

    for role in ROLES:
        item = filled.round_item if ":round-" in name else filled.item
        sent = body(name, scene, item) if method == "POST" else {}
        with transaction.atomic():
            entered += [role] * gets_in(answer_to(method, path, filled.cookies[role], **sent))
            transaction.set_rollback(True)

    assert tuple(entered) == roles


@pytest.mark.parametrize(
    ("method", "name", "roles"),
    [row for row in rows() if not row[1].startswith(ALLAUTH)],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_an_observer_reads_what_organizers_read_and_changes_nothing(
    method, name, roles, filled, db
):
    path = address(name, filled.public, filled.run.pk)
    sent = body(name, filled.public, filled.item) if method == "POST" else {}

    with transaction.atomic():
        answer = answer_to(method, path, filled.observer, **sent, headers={"accept": JSON})
        transaction.set_rollback(True)

    passes = "organizer" if method == "GET" and name not in OF_ONE_ORGANIZER else "outsider"
    assert gets_in(answer) == (passes in roles)
    is_judging = "api-judging" in name  # its page understands 404 alone
    is_refused = method == "POST" and "lab" in parameters_of(name) and not gets_in(answer)
    if is_refused and not is_judging:
        assert "Observers see what organizers see" in answer.json()["message"]


LINK = re.compile(r'\b(?:href|action|hx-get|hx-post|src)="([^"]*)"')


def test_every_page_opens_and_each_link_on_it_leads_to_an_address(filled, db):
    dead, opened = [], 0
    for method, name, roles in rows():
        if method != "GET" or "organizer" not in roles:
            continue
        path = address(name, filled.public, filled.run.pk)
        with transaction.atomic():
            answer = answer_to("GET", path, filled.cookies["organizer"])
            transaction.set_rollback(True)
        assert answer.status_code in (200, 302, 404), path
        opened += answer.status_code == 200
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            text = answer.content.decode()
            dead += [f"{path}: {link!r}" for link in LINK.findall(text) if not leads(link)]

    assert dead == []
    assert opened > 150


@cache  # pages share most of their links
def leads(link: str) -> bool:
    """Return whether a link leads to another server, to a part of its page, or to an address."""
    path = link.partition("#")[0].partition("?")[0]
    if not path.startswith("/") or path.startswith("/static/"):
        return bool(link)
    try:
        resolve(path)
    except Resolver404:
        return False
    return True


@pytest.mark.parametrize("role", ROLES)
def test_only_superusers_get_into_the_administration(role, filled, db):
    answer = answer_to("GET", reverse("admin:index"), filled.cookies[role])

    assert (answer.status_code == 200) == (role == "superuser")


@pytest.mark.parametrize(
    "name", sorted({name for _, name, _ in rows() if "lab" in parameters_of(name)})
)
def test_nothing_of_a_draft_is_shown_to_users_without_a_role(name, filled, db):
    path = address(name, filled.draft, filled.draft_run.pk)
    answers = [answer_to("GET", path, filled.cookies[role]) for role in ("visitor", "outsider")]

    assert {answer.status_code for answer in answers} <= {302, 401, 403, 404, 405}


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
