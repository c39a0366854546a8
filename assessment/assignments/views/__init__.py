"""Pages of assignments, rosters and plans."""
