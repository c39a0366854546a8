"""Services of assignments: rosters, plans, assigned topics, and topics that are set aside."""
