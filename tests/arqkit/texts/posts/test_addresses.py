"""Addresses of the site lead to posts and comments."""

import pytest

from arqkit.texts.posts.addresses import PostAddress, post_address


@pytest.mark.parametrize(
    ("address", "post_ids"),
    [
        ("https://math.stackexchange.com/questions/12/a-title", ["12"]),
        ("http://www.math.stackexchange.com/questions/12", ["12"]),
        ("//math.stackexchange.com/questions/12/", ["12"]),
        ("https://math.stackexchange.com/questions/12/a-title/34", ["34", "12"]),
        ("https://math.stackexchange.com/questions/12/a-title/34#34", ["34", "12"]),
        ("https://math.stackexchange.com/questions/12/34#34", ["34", "12"]),
        (
            "https://math.stackexchange.com/questions/12/a-title?noredirect=1&lq=1#answer-34",
            ["34", "12"],
        ),
        ("https://Math.StackExchange.com/q/12/5", ["12"]),
        ("https://math.stackexchange.com/a/34/5", ["34"]),
        ("https://math.stackexchange.com/posts/34/revisions", ["34"]),
        ("/questions/12/a-title", ["12"]),
        ("/a/34", ["34"]),
        ("#34", ["34"]),
        (" https://math.stackexchange.com/q/12 ", ["12"]),
    ],
)
def test_an_address_names_a_post(address: str, post_ids: list[str]) -> None:
    assert post_address(address) == PostAddress("", tuple(post_ids))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (
            "https://math.stackexchange.com/questions/12/x#comment99_34",
            PostAddress("99", ("34", "12")),
        ),
        ("https://math.stackexchange.com/questions/12/x#comment99", PostAddress("99", ("12",))),
        ("https://math.stackexchange.com/posts/comments/99", PostAddress("99", ())),
    ],
)
def test_an_address_names_a_comment_with_its_post(address: str, expected: PostAddress) -> None:
    assert post_address(address) == expected


@pytest.mark.parametrize(
    "address",
    [
        "",
        "12",
        "#top",
        "https://math.stackexchange.com",
        "https://math.stackexchange.com/questions/tagged/calculus",
        "https://math.stackexchange.com/users/12/somebody",
        "https://meta.math.stackexchange.com/questions/12",
        "https://math.meta.stackexchange.com/questions/12",
        "https://math.stackexchange.com.evil.org/questions/12",
        "https://mathoverflow.net/questions/12",
        "//evil.org/questions/12",
        "https://math.stackexchange.com/questions/١٢/x",
        "javascript:alert(1)//math.stackexchange.com/q/12",
    ],
)
def test_addresses_of_other_sites_and_pages_name_no_post(address: str) -> None:
    assert post_address(address) is None
