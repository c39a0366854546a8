"""Forms for accounts, labs, tasks, teams and topic information."""
