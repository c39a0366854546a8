"""Labels of rounds show nowhere but in the rounds: all pages and files are the same with them."""

import re

import pytest
from django.test import Client

from assessment.models import PoolInstance
from tests.assessment.factories import judge
from tests.assessment.rounds.factories import questions_of, round_of
from tests.factories import AssessorFactory
from tests.test_access import address, fill, parameters_of, rows

# What two requests never have in common: tokens, nonces, the ends of leases, estimated moments.
VARIES = re.compile(
    r'name="csrfmiddlewaretoken" value="[^"]*"|nonce="[^"]*"|"X-CSRFToken":[^}]*'
    r'|"(lease|until|key)": ?"[^"]*"|name="(key|digest)" value="[^"]*"'
    r'|data-value="[-0-9]+T[^"]*"'
)
# Pages about rounds, hours, which are paid in rounds too, the log of what organizers did, what a
# deletion would lose, and the room on the disk.
ABOUT_ROUNDS = re.compile(
    r"round|training|meeting|second|adjudication|sample|questions|time-sheet|audit|lab-download"
    r"|collection-load|runs-load|lab-delete|task-delete"
)

KINDS = ("training", "sample", "second")


def contents(names: list[str], scene, run_id: int) -> dict[tuple[str, str], str]:
    """Return what an organizer and an assessor get, by name of the address and role."""
    found = {}
    asked = {"organizer": names, "assessor": [name for name in names if "judg" in name]}
    for role, theirs in asked.items():
        client = Client(raise_request_exception=False)
        client.force_login(scene.people[role])
        for name in theirs:
            response = client.get(address(name, scene, run_id))
            if response.status_code == 200 and "zip" not in response.headers["Content-Type"]:
                content = b"".join(response) if response.streaming else response.content
                found[name, role] = VARIES.sub("", content.decode())
    return found


@pytest.mark.once
@pytest.mark.django_db
def test_pages_and_files_are_the_same_whatever_is_judged_in_rounds(scene, tmp_path):
    run = fill(scene, tmp_path)
    other = AssessorFactory(lab=scene.lab).user
    names = sorted(  # the address of a finding makes it, before the list of findings is read
        name
        for method, name, _ in rows()
        if method == "GET" and "lab" in parameters_of(name) and not ABOUT_ROUNDS.search(name)
    )
    contents([name for name in names if "judg" in name], scene, run.pk)  # leases items
    before = contents(names, scene, run.pk)
    rounds = [round_of(scene.task, kind, other) for kind in KINDS]
    for made in (*rounds, questions_of(scene.task, other)):
        for instance in PoolInstance.objects.filter(item__pool=made.pool):
            label = made.pool.label_scale.values[0]
            judge(other, instance, label, comment="Only for the round.")
    after = contents(names, scene, run.pk)

    assert len(before) > 70
    lines = {key: content.splitlines() for key, content in after.items()}
    assert {
        key: [line for line in lines.get(key, []) if line not in content]
        for key, content in before.items()
        if after.get(key) != content
    } == {}
    assert [key for key, content in after.items() if "Only for the round" in content] == []
