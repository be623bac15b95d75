"""The project itself as an app: base templates, the house look, and the commands that belong to no school matter."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Settings, addresses, entry points, the embedded database."""

    name = "config"
