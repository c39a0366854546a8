"""URLs of notices, messages, invitations and texts."""

from arqlab.notices.views import notices

app_name = "notices"
urlpatterns = notices.pages.urls
