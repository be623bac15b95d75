"""The project itself as an app: base templates, the house look, and the commands that belong to no school matter."""

import django_stubs_ext
from django.apps import AppConfig
from django.conf import settings

# Lets ModelAdmin[Exam] and the like be written at run time. Here, where the first app begins and before any model: it loads half of
# Django, which the processes that only read the settings (probes, the supervisor) do without.
django_stubs_ext.monkeypatch()


class ConfigConfig(AppConfig):
    """Settings, addresses, entry points, the embedded database."""

    name = "config"

    def ready(self) -> None:
        """Listen for sign-ins from the first one on, and let tasks and publishers find the Celery app where there is a broker."""
        from config import checks  # noqa: F401, PLC0415 - it registers; models are ready only now
        from config.middleware import school_time  # noqa: F401, PLC0415 - likewise

        if settings.CELERY_BROKER_URL:
            from config import celery  # noqa: F401, PLC0415 - it becomes Celery's current app
