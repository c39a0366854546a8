"""How allauth handles accounts here: how wrong passwords are counted, and its email."""

from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.http import HttpRequest

from arqlab.core.errors import UserError
from arqlab.labs.selectors import person_named


class AccountAdapter(DefaultAccountAdapter):
    """allauth's rules, except that limits do not lock people out and links lead to `ARQLAB_URL`."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "too_many_login_attempts": (
            "Too many wrong passwords from your address. Wait a minute and try again; with each"
            " further wrong password you wait longer. If you forgot your password, reset it."
        )
    }

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: object) -> str:
        """Return account and address: with the account alone, strangers could lock people out."""
        login = str(credentials.get("email") or credentials.get("username") or "").strip()
        try:
            account = f"account {person_named(login).pk}"
        except UserError:
            account = login.casefold()
        return f"{account} from {get_ip(request)}"

    def is_safe_url(self, url: str) -> bool:
        """Return whether an address that a request names leads to a page of this site."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:  # such as `http://[`
            return False

    def send_mail(self, template_prefix: str, email: str, context: dict[str, object]) -> None:
        """Send an email whose links lead to `ARQLAB_URL`, whatever host the request named."""
        urls = {name: str(url) for name, url in context.items() if name.endswith("_url")}
        links = {name: _on_this_site(url) for name, url in urls.items()}
        site = {"current_site": {"domain": urlsplit(settings.SITE_URL).netloc}}
        super().send_mail(template_prefix, email, context | links | site)

    def send_notification_mail(
        self,
        template_prefix: str,
        user: AbstractBaseUser,
        context: dict[str, object] | None = None,
        email: str | None = None,
    ) -> None:
        """Write to the owner of an account, at the address that it has now, after the commit.

        What was done is done, so an email that cannot be sent is an error in the log only.
        """
        address = email or EmailAddress.objects.get_primary_email(user)
        send_mail = super().send_notification_mail

        def send() -> None:
            send_mail(template_prefix, user, context, address)

        # Robust: an error here must not keep back what else waits for the commit.
        transaction.on_commit(send, robust=True)


def _on_this_site(url: str) -> str:
    """Return an address with the scheme and host of `ARQLAB_URL`."""
    return settings.SITE_URL + urlsplit(url)._replace(scheme="", netloc="").geturl()
