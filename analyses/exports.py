"""The certificates of qrels, as archives have them."""

from collections.abc import Iterator

from django.contrib.auth.models import AnonymousUser

from analyses.services.certificates import (
    Certification,
    certificate_frames,
    certification_of,
    opened_certification,
)
from arqkit.formats.tables import frame_text
from arqlab.core.exports import Document, declare_documents
from arqlab.core.models import Task
from evaluation.permissions import score_access_of

CERTIFICATE = {
    "teams": "the scores of runs without the judgments that only their team contributed",
    "runs": "the scores of runs without the judgments that only they contributed",
    "depths": "the rankings of the runs by shallower pools",
}
"""What is in the files of a certificate."""


def _certificates(task: Task, *, published: bool) -> Iterator[Document]:
    """Yield the certificate of the current qrels, or for everyone that of the released ones."""
    if not published:
        for qrel_set in task.qrel_sets.filter(is_current=True).select_related("task__lab"):
            yield from _files(certification_of(qrel_set, computes=True))
        return
    access = score_access_of(AnonymousUser(), task)
    leaderboard = access.leaderboard
    if leaderboard and access.may_open_certificate(leaderboard.qrel_set):
        certified = certification_of(leaderboard.qrel_set, computes=True)
        yield from _files(opened_certification(certified, access))


def _files(certified: Certification) -> Iterator[Document]:
    for part, frame in certificate_frames(certified).items():
        contents = f"Reusability certificate of the qrels: {CERTIFICATE[part]}."
        yield Document(f"certificate.{part}.tsv", contents, [frame_text(frame).encode()])


declare_documents(of_task=_certificates)
