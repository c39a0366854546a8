"""What a service refuses: a sentence for people on pages, in the API and in commands, and a code
for programs.
"""

import ast
import re
from collections.abc import Callable, Iterator

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from arqlab.core.models import Task, User
from tests.desk.views.test_home import text_of
from tests.factories import Scene
from tests.submissions.factories import NOW
from tests.submissions.test_apis import send
from tests.test_structure import product_files

REFUSALS = {"UserError", "JudgingError", "ConfirmationError"}
PUBLISHED = set(
    """
    accepted account-exists address-taken administrator already-released answered-meanwhile
    applicants archive archived bad-label bad-rating busy cannot-run changed changed-meanwhile
    client closed collection-in-use damaged database dates dismissed-meanwhile empty empty-pool
    engine erratum exists failed filled forged-lease generation group has-pool has-supplement
    has-topics import-running impossible-pool in-use incomplete invalid is-assessor is-expert
    is-kept is-member items-differ judged judged-meanwhile judged-since judging-dates key
    key-used label last-administrator last-member last-organizer leased-elsewhere level long-id
    long-value made malformed name newer no-address no-answer no-assessor no-collection
    no-expert no-formula no-mail no-pool no-pool-yet no-post no-question no-reason no-recipients
    no-such-member no-such-role no-team not-answered not-done not-empty not-failed not-in-pool
    not-over not-released not-revealed not-superseded not-third not-typeset not-with-you
    nothing-judged nothing-left nothing-to-judge nothing-to-release often one-team
    organizers-close other-address other-collection overtaken own-ticket pool-changed
    pool-closed pool-judged protocol published qrels-current qrels-used quota reason revealed
    role same same-answer-twice same-person same-run schema size split state storage
    system tag tag-taken taken task-closed task-not-closed team team-differs team-is-lab
    team-name team-name-similar team-name-taken too-few-formulas too-large too-long
    too-many-tokens topic-gone topics-in-use unacknowledged unconfirmed-address unknown-bid
    unknown-collection unknown-item unknown-lab unknown-person unknown-placeholder unknown-pool
    unknown-preset unknown-qrels unknown-role unknown-run unknown-system unknown-task
    unknown-topic unknown-version upcoming visual-ids withdrawn wrong-model
    """.split()
)
"""The codes that the API has shown so far. Programs read them, so none of them changes."""


def raised() -> Iterator[tuple[ast.expr, str]]:
    """Yield the message and the code of every refusal in the code, if its code is written there."""
    for path in product_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in REFUSALS:
                for keyword in node.keywords:
                    if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                        yield node.args[0], keyword.value.value


def test_codes_that_programs_read_stay():
    codes = {code for _, code in raised()}

    assert PUBLISHED - codes == set()
    assert [code for code in codes if not re.fullmatch("[a-z]+(-[a-z]+)*", code)] == []


def test_refusals_are_sentences():
    texts = ["".join(literals(message)) for message, _ in raised()]
    written = [text for text in texts if text]

    assert len(written) > 150
    assert [text for text in written if not re.search(r"[.…}]$", text)] == []
    assert [text for text in written if re.search(r"  |[.,;:][A-Z]", text)] == []


def literals(message: ast.expr) -> Iterator[str]:
    """Yield the parts of a message; `{}` stands for what is only known at run time."""
    if isinstance(message, ast.Constant):
        yield message.value
    for part in getattr(message, "values", ()):
        yield part.value if isinstance(part, ast.Constant) else "{}"


def test_a_page_shows_what_was_refused(scene: Scene, client_of: Callable[[User], Client]):
    sent = {"person": scene.organizer.pk, "role": "organizer"}

    page = client_of(scene.organizer).post("/labs/arqmath-x/people/revoke/", sent, follow=True)

    told = f"{scene.organizer.name} is the last organizer of {scene.lab}. Add another organizer"
    assert told in text_of(page)


def test_the_api_answers_with_the_sentence_and_the_code(
    scene: Scene, client_of: Callable[[User], Client]
):
    Task.objects.update(deadline=NOW.replace(year=2020))

    answer = send(client_of(scene.member))

    assert answer.status_code == 409
    assert answer.json() == {
        "message": "Answer retrieval closed on 1 May 2020, 12:00 UTC. Ask an organizer of The lab "
        "arqmath-x to submit a late run.",
        "code": "closed",
        "errors": [],
    }


def test_a_command_ends_with_the_sentence(scene: Scene):
    with pytest.raises(CommandError) as refused:
        call_command("close_task", "arqmath-x/task9")

    assert str(refused.value).startswith("Unknown task 'arqmath-x/task9'. Use LAB/TASK, one of ")
