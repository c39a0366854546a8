"""Runs and test collections as other tools of the field read them."""
