"""Forms about accounts, labs, tasks, teams and topic information."""
