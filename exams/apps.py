"""Django's registration of the exams app."""

from django.apps import AppConfig


class ExamsConfig(AppConfig):
    """Exams, attempts, the gate, grading and receipts."""

    name = "exams"
    verbose_name = "Exams"
