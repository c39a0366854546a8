"""What people fill in about pools, judging and qrels."""

from assessment.forms.pools import CostForm, PoolForm, SupplementForm, preset_data

__all__ = [
    "CostForm",
    "PoolForm",
    "SupplementForm",
    "preset_data",
]
