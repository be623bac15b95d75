"""Django's admin, whose pages are loaded with the addresses and not with every process: no worker, sequencer or command shows them.

They are an eighth of what a command loads before it begins. The checks look at them all the same.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib.admin import AdminSite, autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.core.checks import CheckMessage


class LateAdminSite(AdminSite):
    """A site that is filled when somebody asks for its addresses, or checks it."""

    def get_urls(self) -> list[Any]:
        """Return the addresses of all pages."""
        autodiscover()
        return super().get_urls()

    def check(self, app_configs: Sequence[AppConfig] | None) -> list[CheckMessage]:
        """Return what is wrong with any page."""
        autodiscover()
        return super().check(app_configs)


class LateAdminConfig(SimpleAdminConfig):
    """Django's app with that site."""

    default_site = "config.late_admin.LateAdminSite"
