"""Every page that offers the file of its table has it in all formats."""

import json
import re
from html import unescape

from tests import test_access
from tests.test_access import address, answer_to, rows

filled = test_access.filled
FILE = re.compile(r'href="(\?[^"]*\bformat=json[^"]*)"')


def test_every_page_writes_the_files_that_it_offers(filled, db):
    cookies, offered = filled.cookies["organizer"], []
    names = {name for method, name, _ in rows() if method == "GET" and ":" in name}
    for name in sorted(names):
        path = address(name, filled.public, filled.run.pk)
        page = answer_to("GET", path, cookies)
        link = None if page.streaming else FILE.search(page.content.decode(errors="replace"))
        offered += [path + unescape(link[1])] if link else []

    for url in offered:
        assert isinstance(json.loads(answer_to("GET", url, cookies).content), list | dict), url
        for format_ in ("csv", "latex"):
            file = answer_to("GET", url.replace("=json", f"={format_}"), cookies)
            assert (file.status_code, bool(file.content)) == (200, True), file.request
    assert len(offered) >= 5, offered
