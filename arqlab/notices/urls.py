"""URLs of notices, messages, invitations and texts."""

from django.urls import path

from arqlab.notices.views import notices

app_name = "notices"
urlpatterns = [
    path("notices/", notices.notice_list, name="notice-list"),
    path("notices/read/", notices.notices_read, name="notices-read"),
    path("notices/mail/", notices.mail_preference, name="mail-preference"),
    path("notices/<int:notice>/", notices.notice_detail, name="notice-detail"),
]
