"""The kernel: the concepts and methods of information retrieval evaluation.

Pure functions: no Django, no Celery, no settings, no clock and no global random state.
"""

__version__ = "0.1.0"
