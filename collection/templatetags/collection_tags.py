"""Template filters of the collection pages."""

from django import template

from arqkit.texts.html.rendering import SafeHtml, render_formula

register = template.Library()


@register.filter
def formula(latex: str | None) -> SafeHtml:
    """Typeset LaTeX inline."""
    return render_formula(latex or "")
