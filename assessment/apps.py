"""The configuration of the app for Django."""

from django.apps import AppConfig


class AssessmentConfig(AppConfig):
    """Qrels."""

    name = "assessment"

    def ready(self) -> None:
        """Register the qrels and pools with which the check of runs compares them."""
        from assessment.qrels.selectors.joining import ids_judged_or_pooled
        from submissions.services.validation import JUDGED

        JUDGED.append(ids_judged_or_pooled)
