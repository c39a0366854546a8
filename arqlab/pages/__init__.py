"""Pages that span all apps: home, labs and tasks; and the demo lab."""
