"""URLs of ArqLab, app by app."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path, reverse_lazy
from django.views.generic import RedirectView

from arqlab.accounts.admin import confirmed
from arqlab.apps import lab_apps
from arqlab.core.views import error_pages
from arqlab.web.patterns import patterns_of

# One sign-in page, so that one limit counts all wrong passwords.
admin.site.admin_view = confirmed(admin.site.admin_view)  # type: ignore[method-assign]
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
# One page for a password of one's own, which writes to its owner.
own_password = RedirectView.as_view(url=reverse_lazy("account_change_password"))
admin.site.password_change = own_password  # type: ignore[method-assign,assignment]
urlpatterns = [
    *map(patterns_of, sorted(lab_apps(), key=lambda app: not app.has_busiest_pages)),
    # Sessions have a page of ours (arqlab/accounts/views/sessions.py).
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("admin/", admin.site.urls),
]

handler400 = error_pages.bad_request
handler403 = error_pages.permission_denied
handler404 = error_pages.page_not_found
handler429 = error_pages.too_many_requests  # of allauth
handler500 = error_pages.server_error
