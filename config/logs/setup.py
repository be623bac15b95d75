"""Django's LOGGING: everything to stderr in one form; the supervisor, or the container, keeps it."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

FORMS = ("text", "json")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def describe_logging(*, form: str, level: str) -> dict[str, Any]:
    """Return the settings of `logging.config.dictConfig`."""
    if form not in FORMS:
        raise ImproperlyConfigured(f"LOG_FORMAT: must be one of {', '.join(FORMS)}, not {form!r}")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": "config.logs.lines.make_line", "form": form}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            # What was refused is in our own line about the request; Django's would repeat it.
            "django.request": {"level": "ERROR"},
            # With DEBUG these two would write every statement with its values, and every address that is called with its secrets.
            "django.db.backends": {"level": "INFO"},
            "httpx": {"level": "WARNING"},
            "httpcore": {"level": "WARNING"},
        },
    }
