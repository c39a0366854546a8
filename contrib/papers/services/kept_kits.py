"""The paper kits of released leaderboards. Each is kept when it is first made, and stays so.

A kit tells of judging, agreement and other labs too, which nobody records at a release.
"""

import io
import zipfile

from django.contrib.auth.models import AnonymousUser
from django.core.files.base import ContentFile

from analyses.services.certificates import certification_of
from assessment.models import QrelSet
from contrib.papers.services.paper_kits import PaperKit, paper_kit
from evaluation.models import Leaderboard
from evaluation.selectors.boards import release_of


def kit_of(qrel_set: QrelSet) -> PaperKit | None:
    """Return the kept kit of the released leaderboard of these qrels, or None.

    Its figures are among its texts, and need no drawing.
    """
    released = release_of(qrel_set)
    if released is None or not released.kit:
        return None
    with released.kit.open() as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        texts = {
            name.partition("/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if name.endswith((".tex", ".tsv"))
        }
        folder = archive.namelist()[0].partition("/")[0]
    return PaperKit(folder, texts, ())


def kept_archive(leaderboard: Leaderboard) -> bytes:
    """Return the archive of the kit of a version, which is made and kept if it is missing.

    It has what visitors may see of other labs, because all organizers get the same.
    """
    if not leaderboard.kit:
        qrel_set = leaderboard.qrel_set
        certification_of(qrel_set, computes=True)
        content = ContentFile(paper_kit(qrel_set, AnonymousUser()).archive())
        field = leaderboard.kit.field
        name = field.storage.save(field.generate_filename(leaderboard, "kit.zip"), content)
        # Of two at once, the first one is kept.
        Leaderboard.objects.filter(pk=leaderboard.pk, kit="").update(kit=name)
        leaderboard.refresh_from_db(fields=["kit"])
    with leaderboard.kit.open() as file:
        return bytes(file.read())


def keep_kits() -> None:
    """Make the kits of released leaderboards that have none yet."""
    for leaderboard in Leaderboard.objects.filter(hidden_at=None, kit="").order_by("pk"):
        if release_of(leaderboard.qrel_set) == leaderboard:
            kept_archive(leaderboard)
