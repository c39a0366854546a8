#!/usr/bin/env python3
"""Run a management command of ArqLab."""

import os
import sys

from django.core.management import execute_from_command_line

from arqkit.streams import ending_when_unread

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arqlab.settings")
    with ending_when_unread():
        execute_from_command_line(sys.argv)
