"""The field that is searched as one types, deaf to ids that are none: Django's own asks the database about whatever an address or a form names."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey


class _CarefulAutocomplete(AutocompleteSelect):
    """Shows as chosen what could be a row; whether it is one, the form says."""

    def optgroups(self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None) -> list[Any]:
        """Look up only what could be ids."""
        return super().optgroups(name, [each for each in value if self._could_be_id(each)], attr)

    def _could_be_id(self, text: str) -> bool:
        try:
            self.field.target_field.to_python(text or None)
        except ValidationError:
            return False
        return True


def autocomplete(field: "ForeignKey[Any, Any]", site: AdminSite) -> AutocompleteSelect:
    """Return the widget for a relation that is among `autocomplete_fields`."""
    return _CarefulAutocomplete(field, site)
