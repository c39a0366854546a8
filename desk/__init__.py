"""Pages that span all apps (home, labs, tasks, runs), and the demo lab."""
