"""`manage.py build_demo`: build the demo lab, or say how to get into the one that is there."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from arqlab.core.management.labcommand import LabCommand
from arqlab.core.models import Lab
from arqlab.pages.services.demo import build


class Command(LabCommand):
    """Build the demo lab once; a second call changes nothing and prints the accounts again."""

    help = "Build the demo lab with teams, runs, leaderboards and judgments, and print its accounts and the runs to try."

    def handle(self, *args: Any, **options: Any) -> None:
        """Build the lab if it is not there, then print the accounts and files."""
        # The retrieval library logs every index that it makes, whatever the settings say.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        folder = Path(settings.DATA_DIR) / "demo"
        kept = folder / "password"
        if Lab.objects.filter(slug=build.SLUG).exists():
            self.stdout.write("The demo lab is already there; nothing was changed.")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            kept.touch(mode=0o600)
            kept.write_text(build.new_password() + "\n", encoding="utf-8")
            lab = build.build_demo(
                folder=folder, password=kept.read_text(encoding="utf-8").strip(), at=timezone.now()
            )
            self.stdout.write(f"{lab.name} is built.")
        self._print(folder, kept)

    def _print(self, folder: Path, kept: Path) -> None:
        password = (
            kept.read_text(encoding="utf-8").strip()
            if kept.exists()
            else "as it was set when it was built"
        )
        self.stdout.write(f"\nAccounts, all with the password {password}")
        for username, role in build.account_roles():
            self.stdout.write(f"  {username:<12} {role}")
        self.stdout.write(
            f"\nRun files to try on {build.SLUG}/{build.OPEN_TASK}, as a member of a team"
        )
        for path in sorted(folder.glob("try-*.tsv")):
            self.stdout.write(f"  {path}")
