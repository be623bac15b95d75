"""A page that shows and cannot change, for operators only: the log holds what all schools did."""

from typing import TypeVar

from django.contrib.admin import ModelAdmin
from django.db.models import Model
from django.http import HttpRequest

M = TypeVar("M", bound=Model)


class ReadOnly(ModelAdmin[M]):
    """What people want to know is here; what they want to change, a command changes."""

    show_full_result_count = False  # these tables are long, and nobody needs to know how long

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Operators see it listed."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Operators may look; who is one, the installation's user model says."""
        return bool(getattr(request.user, "is_operator", False))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody changes."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes."""
        return False
