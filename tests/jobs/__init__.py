"""Jobs of every kind, disturbed in every way."""
