"""Home, lab and task pages."""
