"""The list of rounds, for organizers."""

from __future__ import annotations

import re

from assessment.models import Round
from tests.assessment.factories import make_pool
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory

LIST = "/labs/arqmath-x/tasks/task1/rounds/"


def test_the_list_shows_each_round_with_its_progress(task, lab, assessor, organizer, client_of):
    make_pool(task)
    other = AssessorFactory(lab=lab).user
    made = round_of(task, Round.Kind.TRAINING, assessor, other, title="Warm-up")
    round_of(task, Round.Kind.SECOND, assessor, topics=["A.2"])
    vote(made, other, "10", 2)

    page = client_of(organizer).get(LIST).text
    rows = re.findall("<tr>(.*?)</tr>", page.partition("<tbody>")[2], re.DOTALL)
    words = [re.sub("<[^>]+>|\\s+", " ", row).split() for row in rows]

    assert [" ".join(row[:3]) for row in words] == ["Second judgments 1", "Warm-up Training 1"]
    assert words[1][-6:] == ["2", "2", "8", "1", "Open", "hidden"]


def test_the_list_tells_that_the_labels_of_a_completed_second_round_are_shown(
    task, assessor, organizer, client_of
):
    make_pool(task)
    made = round_of(task, Round.Kind.SECOND, assessor, topics=["A.2"])
    assert "hidden</td>" in client_of(organizer).get(LIST).text

    vote(made, assessor, "12", 2)
    assert "shown</td>" in client_of(organizer).get(LIST).text
