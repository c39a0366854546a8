"""URLs of the pages that span all apps."""

from django.urls import path, register_converter

from desk.views import choosing, downloads, labs, loads, tasks


class LoadKind:
    """The kinds of files that a task takes."""

    regex = "topics|qrels|judgments"

    def to_python(self, value: str) -> str:
        """Return the kind."""
        return value

    def to_url(self, value: str) -> str:
        """Return the kind."""
        return value


register_converter(LoadKind, "load_kind")
app_name = "desk"
_TASK = "labs/<slug:lab>/tasks/<slug:task>/"
urlpatterns = [
    path("", labs.home, name="home"),
    path("labs/", labs.lab_list, name="lab-list"),
    path("labs/<slug:lab>/", labs.lab_detail, name="lab-detail"),
    path("labs/<slug:lab>/downloads/<str:name>", downloads.lab_download, name="lab-download"),
    path("labs/<slug:lab>/copy/", labs.lab_copy, name="lab-copy"),
    path("load-lab/", loads.lab_load, name="lab-load"),
    path("labs/<slug:lab>/loads/", loads.load_list, name="load-list"),
    path("labs/<slug:lab>/collection/load/", loads.collection_load, name="collection-load"),
    path("labs/<slug:lab>/topic-candidates/", loads.candidates_load, name="candidates-load"),
    path("loads/<int:load>/topics/", choosing.topic_choose, name="topic-choose"),
    path("loads/<int:load>/candidates.csv", choosing.candidate_list, name="candidate-list"),
    path("labs/<slug:lab>/collection/visual-ids/", loads.visual_ids_make, name="visual-ids-make"),
    path(f"{_TASK}load/<load_kind:kind>/", loads.task_load, name="task-load"),
    path("loads/<int:load>/", loads.load_detail, name="load-detail"),
    path("loads/<int:load>/status/", loads.load_status, name="load-status"),
    path("loads/<int:load>/repeat/", loads.load_repeat, name="load-repeat"),
    path("labs/<slug:lab>/delete/", labs.lab_delete, name="lab-delete"),
    path(f"{_TASK}delete/", labs.task_delete, name="task-delete"),
    path(_TASK, tasks.task_detail, name="task-detail"),
    path(f"{_TASK}downloads/<str:name>", downloads.task_download, name="task-download"),
    path(f"{_TASK}runs/<int:run>/", tasks.run_detail, name="run-detail"),
    path(f"{_TASK}runs/<int:run>/status/", tasks.run_status, name="run-status"),
]
