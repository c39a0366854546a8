"""The contexts of templates: pages declare what they show as dataclasses."""


def context_of(*parts: object) -> dict[str, object]:
    """Return the fields of the parts of a page by their names; a part that is None has none.

    Raises `ValueError` if two parts have a field of the same name, one of which would be lost.
    """
    context: dict[str, object] = {}
    for part in parts:
        fields = {} if part is None else vars(part)
        if twice := context.keys() & fields.keys():
            raise ValueError(f"Two parts of a page have the fields {', '.join(sorted(twice))}.")
        context |= fields
    return context
