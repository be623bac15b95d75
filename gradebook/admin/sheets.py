"""Mark sheets in the admin: made with an assignment, arranged by columns; their marks are for reading."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from gradebook.admin.scoping import SchoolScoped, person_of
from gradebook.errors import ColumnRefused, TermIsLocked
from gradebook.models import Column, Mark, MarkSheet
from gradebook.services.columns import (
    add_column,
    check_free_title,
    check_new_maximum,
    edit_column,
    remove_column,
)


@admin.register(MarkSheet)
class MarkSheetAdmin(SchoolScoped[MarkSheet]):
    """Mark sheets; one is opened when a teacher is assigned."""

    school_path = "school"
    list_display = ("course", "school_class", "period", "school", "grid")
    list_filter = (
        ("school", admin.RelatedOnlyFieldListFilter),
        ("period", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("course", "school_class", "period", "school")
    search_fields = ("course__title", "school_class__name", "period__name")
    readonly_fields = ("school", "period", "course", "school_class", "grid")

    @admin.display(description="Marks")
    def grid(self, sheet: MarkSheet) -> str:
        """Link to the sheet as its teachers see it."""
        return format_html('<a href="/marksheets/{}/">Open</a>', sheet.pk)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Sheets come with assignments."""
        return False


class ColumnForm(forms.ModelForm[Column]):
    """A column; its place at the end of the sheet is given to it."""

    class Meta:
        model = Column
        fields = ("sheet", "title", "max_points", "source_id")
        labels = {"source_id": "Exam"}
        help_texts = {
            "source_id": "The id of the exam whose results are posted here; empty for marks typed by hand."
        }

    def clean(self) -> dict[str, Any]:
        """Refuse what the service would: any change in a locked term, and a title that is taken."""
        fields = super().clean() or self.cleaned_data
        sheet = fields.get("sheet") if self.instance._state.adding else self.instance.sheet  # noqa: SLF001 - documented
        if sheet and sheet.period.is_locked:
            raise forms.ValidationError(TermIsLocked().detail)
        if sheet and "title" in self.changed_data and "title" in fields:
            self._check_title(sheet, fields["title"])
        return fields

    def _check_title(self, sheet: MarkSheet, title: str) -> None:
        try:
            check_free_title(sheet, title, but=self.instance.pk)
        except ColumnRefused as refused:
            self.add_error("title", refused.detail)

    def clean_max_points(self) -> Any:
        """Refuse what the service would: a maximum below a mark that is there."""
        value = self.cleaned_data["max_points"]
        before = Column.objects.filter(pk=self.instance.pk).first()
        if before and value != before.max_points:
            try:
                check_new_maximum(before, value)
            except ColumnRefused as refused:
                raise forms.ValidationError(refused.detail) from refused
        return value


@admin.register(Column)
class ColumnAdmin(SchoolScoped[Column]):
    """Columns; saved through the same services as the teachers' forms, so that the log knows of it."""

    school_path = "sheet__school"
    form = ColumnForm
    list_display = ("title", "sheet", "max_points", "source", "position")
    list_filter = ("source", ("sheet__school", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("sheet__course", "sheet__school_class", "sheet__period")
    search_fields = ("title", "sheet__course__title", "sheet__school_class__name")
    autocomplete_fields = ("sheet",)

    def get_readonly_fields(self, request: HttpRequest, obj: Column | None = None) -> tuple[str, ...]:
        """What a column belongs to does not change."""
        return ("sheet", "source_id") if obj else ()

    def save_model(
        self,
        request: HttpRequest,
        obj: Column,
        form: forms.ModelForm[Column],
        change: bool,  # noqa: FBT001
    ) -> None:
        """Add or edit the column by its service."""
        sheet, title, most, by = obj.sheet, obj.title, obj.max_points, person_of(request)
        if change:
            edit_column(column_id=obj.pk, sheet=sheet, title=title, max_points=most, by=by)
        else:
            saved = add_column(sheet=sheet, title=title, max_points=most, by=by, source_id=obj.source_id)
            obj.pk = saved.pk
        obj.refresh_from_db()

    def delete_model(self, request: HttpRequest, obj: Column) -> None:
        """Remove the column by its service: one that never had a mark."""
        remove_column(column_id=obj.pk, sheet=obj.sheet, by=person_of(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Column]) -> None:
        """Remove them one by one, as from their own pages."""
        for column in queryset:
            self.delete_model(request, column)


@admin.register(Mark)
class MarkAdmin(SchoolScoped[Mark]):
    """Marks, for reading."""

    school_path = "sheet__school"
    list_display = (
        "student",
        "column",
        "value",
        "code",
        "source",
        "automatic_value",
        "updated_by",
        "updated_at",
    )
    list_filter = ("source", "code")
    list_select_related = ("student", "column", "updated_by")
    search_fields = ("student__username", "student__last_name", "column__title")
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Marks are made in the grid."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Mark | None = None) -> bool:
        """Marks change through services, with their events."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Mark | None = None) -> bool:
        """A mark is cleared, never removed."""
        return False
