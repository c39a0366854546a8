"""What organizers fill in about pools."""

from assessment.forms.pools import CostForm, PoolForm, SupplementForm, preset_data

__all__ = ["CostForm", "PoolForm", "SupplementForm", "preset_data"]
