"""The whole numbers in addresses: those that every database holds."""

from django.urls import register_converter
from django.urls.converters import IntConverter


class NumberConverter(IntConverter):
    """A number of up to 18 digits; an address with a longer one is of no page.

    Django's `int` takes any, and SQLite raises an error from 2**63 on.
    """

    regex = "[0-9]{1,18}"


register_converter(NumberConverter, "number")
