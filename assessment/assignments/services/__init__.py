"""Changes of assignments, rosters and plans."""
