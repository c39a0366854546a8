"""URLs of notices, messages, invitations and texts."""

from django.urls import path

from arqlab.notices.views import notices

app_name = "notices"
urlpatterns = [
    path("notices/", notices.notice_list, name="notice-list"),
    path("notices/read/", notices.notices_read, name="notices-read"),
    path("notices/mail/", notices.mail_preference, name="mail-preference"),
    path("notices/<int:notice>/", notices.notice_detail, name="notice-detail"),
    path("labs/<slug:lab>/messages/", notices.message_list, name="message-list"),
    path("labs/<slug:lab>/messages/new/", notices.message_create, name="message-create"),
    path("labs/<slug:lab>/messages/<int:message>/", notices.message_detail, name="message-detail"),
    path("labs/<slug:lab>/invitations/", notices.invitation_list, name="invitation-list"),
    path(
        "labs/<slug:lab>/invitations/<int:invitation>/resend/",
        notices.invitation_resend,
        name="invitation-resend",
    ),
    path(
        "labs/<slug:lab>/invitations/<int:invitation>/withdraw/",
        notices.invitation_withdraw,
        name="invitation-withdraw",
    ),
    path("invitations/<str:token>/", notices.invitation_accept, name="invitation-accept"),
    path("labs/<slug:lab>/texts/", notices.text_list, name="text-list"),
    path("labs/<slug:lab>/texts/<slug:kind>/", notices.text_edit, name="text-edit"),
    path("labs/<slug:lab>/texts/<slug:kind>/restore/", notices.text_restore, name="text-restore"),
    path("labs/<slug:lab>/mail/", notices.mail_list, name="mail-list"),
    path("labs/<slug:lab>/mail/<int:mail>/retry/", notices.mail_retry, name="mail-retry"),
]
