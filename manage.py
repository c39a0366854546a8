#!/usr/bin/env python3
"""Run a management command of ArqLab."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arqlab.settings")
    try:
        execute_from_command_line(sys.argv)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`). What Python still wants to flush goes
        # nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
