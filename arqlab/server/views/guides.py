"""The guides, as `bin/guides` built them."""

from mimetypes import guess_type
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils._os import safe_join

from arqlab.web import Pages

pages = Pages("docs/")


@pages.read("", "guides", shows="guides")
@pages.read("<path:path>", "guide-file", shows="guide")
def guide_file(request: HttpRequest, path: str = "index.html") -> HttpResponse:
    """Return a file of the guides, or a page on how to build them if that was not done."""
    if not (settings.GUIDES / "index.html").is_file():
        return render(request, "server/guides_not_built.html", status=404)
    file = Path(safe_join(str(settings.GUIDES), path))
    if not file.is_file():
        raise Http404
    return HttpResponse(file.read_bytes(), content_type=guess_type(file.name)[0])
