"""What a browser sends for the forms of a page."""

from typing import Any

from lxml import html


def form_data(page: str, path: str, **changes: Any) -> dict[str, Any]:
    """Return what a browser sends to a path for the form of a page that edits something.

    A change to None is a box that is not ticked.
    """
    forms = html.fromstring(page).xpath("//form[.//input[@name='version']]")
    [form, *_] = [each for each in forms if each.get("action") in (None, path)]
    for empty in form.xpath(".//input[not(@value)][not(@type='checkbox' or @type='radio')]"):
        empty.set("value", "")
    # The line end after <textarea> is not part of its text.
    data = {name: value.removeprefix("\n") for name, value in form.form_values()} | changes
    return {name: value for name, value in data.items() if value is not None}
