"""What loads labs and qrels, builds pools, takes judgments, and freezes qrels."""

from assessment.services.guidelines import guideline_html, write_guideline
from assessment.services.items import item_payload, listed_judgment, saved_payload
from assessment.services.judgedlist import JudgedRow, judged_list
from assessment.services.judging import Label, Submission, submit_judgments
from assessment.services.leases import Seat, Taken, is_genuine, put_off, renew_lease, take_item, take_next
from assessment.services.loading import LoadedLab, load_lab, load_qrels
from assessment.services.pools import (
    ComputedPool,
    close_pool,
    compute_pool,
    discard_pool,
    freeze_pool,
    open_pool,
    supplement_pool,
)
from assessment.services.sittings import Sitting, open_sitting
from assessment.services.typesetting import typeset_pools

__all__ = [
    "ComputedPool",
    "JudgedRow",
    "Label",
    "LoadedLab",
    "Seat",
    "Sitting",
    "Submission",
    "Taken",
    "close_pool",
    "compute_pool",
    "discard_pool",
    "freeze_pool",
    "guideline_html",
    "is_genuine",
    "item_payload",
    "judged_list",
    "listed_judgment",
    "load_lab",
    "load_qrels",
    "open_pool",
    "open_sitting",
    "put_off",
    "renew_lease",
    "saved_payload",
    "submit_judgments",
    "supplement_pool",
    "take_item",
    "take_next",
    "typeset_pools",
    "write_guideline",
]
