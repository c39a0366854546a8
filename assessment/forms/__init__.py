"""What people fill in about pools, judging and qrels."""

from assessment.forms.pools import CostForm, PoolForm, SupplementForm, choice_data

__all__ = [
    "CostForm",
    "PoolForm",
    "SupplementForm",
    "choice_data",
]
