"""What archives have of greetings."""

from contrib.sample.models import Greeting

from arqlab.web.archive_tables import ArchiveTables, declare_archive_tables

declare_archive_tables(ArchiveTables(unwritten={Greeting: {"secret"}}))
