"""The tag for links to pages of other apps, in every template."""

from django import template

from arqlab.web.places import url_of

register = template.Library()
register.simple_tag(url_of)
