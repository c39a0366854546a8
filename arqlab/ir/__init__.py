"""The kernel: what information retrieval knows. No Django, no Celery, no settings, no clock, no
global randomness.
"""
