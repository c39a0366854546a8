"""The app's name for Django, and the judged items that runs are compared with."""

from django.apps import AppConfig


class AssessmentConfig(AppConfig):
    """Qrels."""

    name = "assessment"

    def ready(self) -> None:
        """Let the check of runs compare them with qrels and pools."""
        from assessment.qrels.selectors.joining import ids_judged_or_pooled
        from submissions.services.known_items import JUDGED

        JUDGED.append(ids_judged_or_pooled)
