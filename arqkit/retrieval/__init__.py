"""The organizers' own systems: indexes, models and scores of search (protocol §10)."""
