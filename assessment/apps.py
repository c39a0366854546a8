"""The app's name for Django, and the judged items that runs are compared with."""

from django.apps import AppConfig


class AssessmentConfig(AppConfig):
    """Qrels."""

    name = "assessment"

    def ready(self) -> None:
        """Let the check of runs compare them with qrels and pools."""
        from assessment.qrels.selectors.joining import judged_ids
        from submissions.services.known_items import JUDGED

        JUDGED.append(judged_ids)
