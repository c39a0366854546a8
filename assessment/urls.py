"""The addresses of the app."""

from django.urls import path

from assessment import views

app_name = "assessment"
_POOLS = "labs/<slug:lab>/tasks/<slug:task>/pools/"
urlpatterns = [
    path("labs/<slug:lab>/visual-ids/<int:version>/judged/", views.touched_list, name="touched-list"),
    path(_POOLS, views.pool_list, name="pool-list"),
    path(f"{_POOLS}plan/", views.pool_plan, name="pool-plan"),
    path(f"{_POOLS}freeze/", views.pool_freeze, name="pool-freeze"),
    path(f"{_POOLS}<int:number>/", views.pool_detail, name="pool-detail"),
    path(f"{_POOLS}<int:number>/close/", views.pool_close, name="pool-close"),
    path(f"{_POOLS}<int:number>/open/", views.pool_open, name="pool-open"),
    path(f"{_POOLS}<int:number>/discard/", views.pool_discard, name="pool-discard"),
]
