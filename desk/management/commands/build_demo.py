"""`manage.py build_demo`: build the demo lab, or print the accounts of the existing one."""

from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from arqlab.core.models import Lab
from arqlab.labs.management.labcommand import LabCommand
from desk.services import demo


class Command(LabCommand):
    """Build the demo lab, and print its accounts and the run files to try."""

    def handle(self, *args: object, **options: object) -> None:
        """Migrate, build the lab unless it exists, then print the accounts and files."""
        call_command("migrate", interactive=False, verbosity=0)
        folder = Path(settings.DATA_DIR) / "demo"
        password_file = folder / "password"
        if Lab.objects.filter(slug=demo.SLUG).exists():
            self.stdout.write("The demo lab already exists. Nothing was changed.")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            password_file.touch(mode=0o600)
            password_file.write_text(demo.new_password() + "\n", encoding="utf-8")
            lab = demo.build_demo(
                folder=folder,
                password=password_file.read_text(encoding="utf-8").strip(),
                at=timezone.now(),
            )
            self.stdout.write(f"{lab.name} was built.")
        self._print(folder, password_file)

    def _print(self, folder: Path, password_file: Path) -> None:
        password = (
            password_file.read_text(encoding="utf-8").strip()
            if password_file.exists()
            else "the one set when the lab was built"
        )
        self.stdout.write(f"\nAccounts (password for all: {password})")
        for username, role in demo.ACCOUNTS.items():
            self.stdout.write(f"  {username:<12} {role}")
        self.stdout.write(f"\nRun files to submit to {demo.SLUG}/{demo.OPEN_TASK} as a team member")
        for path in sorted(folder.glob("try-*.tsv")):
            self.stdout.write(f"  {path}")
