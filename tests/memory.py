"""The storage of tests that look at no file on a disk."""

from django.core.files.storage import InMemoryStorage

from arqlab.core.files import KeptFiles


class MemoryFiles(KeptFiles, InMemoryStorage):
    """Files in the memory of the tests."""
