"""The app's name for Django."""

from arqlab.apps import LabApp


class TimesheetsConfig(LabApp):
    """The time sheets of a lab, and what it pays."""

    name = "contrib.timesheets"
