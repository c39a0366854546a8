"""Our figures beside those of the papers whose data are public."""
