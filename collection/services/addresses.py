"""Local pages for the addresses of posts and comments that links in posts point to."""

from collections.abc import Container, Iterable

from django.urls import reverse

from arqkit.texts.posts.addresses import PostAddress, post_address
from collection.models import Collection, Post
from collection.selectors.threads import find_commented, find_posts


def post_url(lab_slug: str, post_id: str) -> str:
    """Return the URL of a post on its thread's page."""
    return f"{reverse('collection:post-detail', args=[lab_slug, post_id])}#post-{post_id}"


def posts_at(
    addresses: Iterable[str], collection: Collection | int
) -> tuple[dict[str, PostAddress], dict[str, str], dict[str, Post]]:
    """Return what addresses name, the posts of their comments by comment id, and posts by id.

    Takes at most one query for posts and one for comments.
    """
    named = {address: target for address in addresses if (target := post_address(address))}
    if not named:
        return {}, {}, {}
    comments = find_commented(collection, {target.comment_id for target in named.values()} - {""})
    ids = {post_id for target in named.values() for post_id in target.post_ids}
    return named, comments, find_posts(collection, ids | {*comments.values()})


def local_pages(
    addresses: Iterable[str],
    *,
    collection: Collection | int,
    lab_slug: str,
    here: Container[str] = (),
) -> dict[str, str]:
    """Return the local page of each address that points to a post or comment of the collection.

    Posts on the current page (`here`, post ids) get a fragment only.
    """
    named, comments, posts = posts_at(addresses, collection)

    def page(target: PostAddress) -> str | None:
        under = comments.get(target.comment_id, "")
        for post_id in (under, *target.post_ids):
            if post_id not in posts:
                continue
            place = f"#comment-{target.comment_id}" if post_id == under else f"#post-{post_id}"
            if post_id in here:
                return place
            unfolded = f"?comment={target.comment_id}" if post_id == under else ""
            return post_url(lab_slug, post_id).partition("#")[0] + unfolded + place
        return None

    return {address: local for address, target in named.items() if (local := page(target))}
