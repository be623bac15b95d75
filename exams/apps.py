"""Django's registration of the exams app."""

from django.apps import AppConfig


class ExamsConfig(AppConfig):
    """Exams, attempts, the gate, grading and receipts."""

    name = "exams"
    verbose_name = "Exams"

    def ready(self) -> None:
        """Make known to the outbox what grades, what sweeps and what follows the log here."""
        from exams import checks, sweeps, worker  # noqa: F401, PLC0415 - models are not loaded when this module is
        from exams.attachments import effects  # noqa: PLC0415
        from exams.consumers.gradebook_marks import GradebookMarks  # noqa: PLC0415
        from exams.effects.register import register as register_effects  # noqa: PLC0415
        from exams.events import SubmissionGraded, upcast_graded  # noqa: PLC0415
        from outbox.consumers import registry  # noqa: PLC0415
        from outbox.log.upcasting import register_upcaster  # noqa: PLC0415

        worker.register()
        sweeps.register()
        effects.register()
        register_effects()
        registry.register(GradebookMarks())
        register_upcaster(SubmissionGraded.kind, version=1, upcast=upcast_graded)
