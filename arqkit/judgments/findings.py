"""Findings of the radar: judgments to talk about with an assessor.

A finding is a reason for a conversation and not a proof.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

import polars as pl

RADAR_SCHEMA = {
    "assessor": pl.Int64,
    "topic": pl.String,
    "pool": pl.Int64,
    "item": pl.Int64,
    "instance": pl.Int64,
    "label": pl.Int64,
    "active_ms": pl.Int64,
    "is_imported": pl.Boolean,
    "visual_id": pl.String,
    "post": pl.String,
    "text": pl.String,
}
"""The columns of the judgments. Of formulas, `visual_id` and `post` are known; of other items,
`text` is a group of posts with the same text, or null. The order and the times of imported
judgments are unknown."""


class FindingKind(StrEnum):
    """What a finding is about."""

    VISUAL_ID = "visual-id"
    DUPLICATES = "duplicates"
    SERVED_TWICE = "served-twice"
    FAST_SERIES = "fast-series"
    LABEL_DRIFT = "label-drift"
    PACE_DRIFT = "pace-drift"


DRIFTS = (FindingKind.LABEL_DRIFT, FindingKind.PACE_DRIFT)
"""The kinds of findings that are about all judgments of an assessor."""


@dataclass(frozen=True)
class RadarFinding:
    """Judgments of one assessor to talk about; `instances` are in the order of judging.

    `identity` is what the finding is about. It changes if the labels of a contradiction change, so
    that a finding that was dismissed is shown again.
    """

    kind: FindingKind
    assessor: int
    topic: str | None
    instances: tuple[int, ...]
    identity: tuple[Any, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return a name of the finding that other findings do not have."""
        parts = (self.kind.value, self.assessor, self.topic, *self.identity)
        return sha256(repr(parts).encode()).hexdigest()[:20]
