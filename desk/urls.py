"""URLs of the pages that span all apps."""

from desk.views import choosing, downloads, labs, loads, tasks

app_name = "desk"
urlpatterns = [
    *labs.pages.urls,
    *tasks.pages.urls,
    *downloads.pages.urls,
    *loads.pages.urls,
    *choosing.pages.urls,
]
