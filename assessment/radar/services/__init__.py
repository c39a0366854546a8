"""Services of the radar."""
