"""The kernel: the concepts and methods of information retrieval evaluation.

Pure functions: no Django, no Celery, no settings, no clock and no global random state.
"""

__version__ = "0.2.0.dev0"
"""The version of ArqLab too. It ends in `.dev0` from one release until the next."""
