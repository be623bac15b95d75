"""Forms that do not overwrite what somebody else has saved since their page was opened.

The one thing to know: the page carries a digest of the row as it showed it, and a save that finds another row is refused, with what was typed
still in the form. Django's own admin would put the older values of every field back, those too that nobody had touched.
"""

import hashlib
from typing import Any, TypeVar

from django import forms
from django.db.models import Model

from gradebook.errors import ChangedMeanwhile

M = TypeVar("M", bound=Model)


class SeenForm(forms.ModelForm[M]):
    """A form of a row that says which state of it was seen; its page has to show the field `seen`."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._found = "" if self.instance._state.adding else name_state(self.list_seen(self.instance))  # noqa: SLF001 - Django's documented way to tell
        self.initial["seen"] = self._found

    @staticmethod
    def list_seen(row: Any) -> list[Any]:
        """Return what the page shows of the row and somebody else may change."""
        return [getattr(row, field.attname) for field in row._meta.concrete_fields]  # noqa: SLF001 - Django's documented API

    def clean(self) -> dict[str, Any]:
        """Refuse what is based on another state of the row."""
        cleaned = super().clean() or self.cleaned_data
        seen = cleaned.get("seen")
        if seen and seen != self._found:
            raise forms.ValidationError(ChangedMeanwhile().detail)
        return cleaned

    def require_unchanged(self) -> None:
        """Lock the row until the transaction ends; raise `ChangedMeanwhile` where it is another than the form has looked at."""
        row = type(self.instance)._default_manager.select_for_update(no_key=True).get(pk=self.instance.pk)  # noqa: SLF001 - the documented way to a model that is not known before
        if name_state(self.list_seen(row)) != self._found:
            raise ChangedMeanwhile


def name_state(values: list[Any]) -> str:
    """Return a short text that differs when any of the values does."""
    return hashlib.sha256(repr([str(value) for value in values]).encode()).hexdigest()[:16]
