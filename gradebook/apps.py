"""Django's registration of the gradebook app."""

from django.apps import AppConfig


class GradebookConfig(AppConfig):
    """People, school structure, mark sheets and marks."""

    name = "gradebook"
    verbose_name = "Gradebook"
