"""Tickets: items reported as System failure or Do not know."""
