"""The time sheets of a lab, and what it pays."""
