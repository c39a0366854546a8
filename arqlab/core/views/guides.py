"""The guides, as `bin/guides` built them."""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.static import serve

from arqlab.web.pages import Pages

pages = Pages("docs/")


@pages.read("", "guides")
@pages.read("<path:path>", "guide-file")
def guide_file(request: HttpRequest, path: str = "index.html") -> HttpResponseBase:
    """Return a file of the guides, or a page on how to build them if that was not done."""
    if not (settings.GUIDES / "index.html").is_file():
        return render(request, "core/guides_not_built.html", status=404)
    return serve(request, path, document_root=str(settings.GUIDES))
