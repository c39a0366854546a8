"""The configuration of the app for Django."""

from arqlab.apps import LabApp


class AssessmentConfig(LabApp):
    """Qrels."""

    name = "assessment"
    has_busiest_pages = True  # judging

    def ready(self) -> None:
        """Register the qrels and pools with which the check of runs compares them."""
        super().ready()
        from assessment.qrels.selectors.joining import ids_judged_or_pooled
        from submissions.services.validation import JUDGED

        JUDGED.append(ids_judged_or_pooled)
