"""Labels: the values an assessor gives to an item (protocol §6)."""

NOT_JUDGMENTS = (5, 6)
"""Labels that are not judgments: System failure and Do not know. Their items count as unjudged."""
