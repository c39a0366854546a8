"""The app's name for Django."""

from arqlab.apps import LabApp


class ExchangeConfig(LabApp):
    """Runs and test collections as other tools of the field read them."""

    name = "contrib.exchange"
