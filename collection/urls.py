"""URLs of the app."""

from collection.views import formulas, imports, threads

app_name = "collection"
urlpatterns = [*threads.pages.urls, *formulas.pages.urls, *imports.pages.urls]
