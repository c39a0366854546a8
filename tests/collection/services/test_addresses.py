"""Local pages of addresses in posts."""

import pytest

from collection.selectors.threads import find_thread
from collection.services.addresses import local_pages
from tests.collection.threads import SITE, rich_thread

pytestmark = pytest.mark.django_db
TWO = "/labs/arqmath-x/posts/2/"


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/q/2", f"{TWO}#post-2"),
        ("/a/20/99", "/labs/arqmath-x/posts/20/#post-20"),
        ("/questions/2/a-title/20#20", "/labs/arqmath-x/posts/20/#post-20"),
        ("/questions/2/a-title/404#404", f"{TWO}#post-2"),
        ("/questions/2/a-title#comment103_2", f"{TWO}?comment=103#comment-103"),
        ("/questions/2/a-title#comment999_2", f"{TWO}#post-2"),
        ("/posts/comments/103", f"{TWO}?comment=103#comment-103"),
        ("/a/10", "#post-10"),
        ("/questions/1/x#comment101_1", "#comment-101"),
        ("/q/404", None),
        ("/users/2/somebody", None),
    ],
)
def test_an_address_leads_to_the_most_specific_local_page(lab, address, page):
    thread = find_thread(rich_thread(lab), "1")

    pages = local_pages(
        [SITE + address], collection=thread.collection, lab_slug=lab.slug, here={"1", "10"}
    )

    assert pages.get(SITE + address) == page


def test_addresses_of_other_sites_have_no_local_page(lab):
    thread = find_thread(rich_thread(lab), "1")

    address = "https://mathoverflow.net/q/2"

    assert local_pages([address], collection=thread.collection, lab_slug=lab.slug) == {}
