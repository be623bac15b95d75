"""People in the admin: Django's own user pages (passwords are hashed, never shown), with school and role."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone

from gradebook.admin.ranks import administers, outranks
from gradebook.admin.scoping import SchoolScoped, person_of
from gradebook.models import Enrolment, Role, SchoolClass, User

RIGHTS = ("is_staff", "is_superuser", "groups", "user_permissions")


class PersonForm(UserChangeForm[User]):
    """A person; who is in a class stays a student of its school."""

    def clean(self) -> dict[str, Any]:
        """Refuse what would leave somebody in a class who could not be put there, as `EnrolmentForm` says."""
        fields = super().clean() or self.cleaned_data
        if classes := ", ".join(each.name for each in self._list_classes_left(fields)):
            raise forms.ValidationError(f"Still in {classes}: end that enrolment first.")
        return fields

    def _list_classes_left(self, fields: dict[str, Any]) -> QuerySet[SchoolClass]:
        """Return the classes this person is in from today on and could not be in as somebody like that."""
        classes = SchoolClass.objects.filter(
            Exists(
                Enrolment.objects.filter(
                    Q(ends_on__isnull=True) | Q(ends_on__gte=timezone.localdate()),
                    school_class=OuterRef("pk"),
                    student=self.instance,
                )
            )
        )
        is_student = fields.get("role", self.instance.role) == Role.STUDENT
        return classes.exclude(school=fields.get("school")) if is_student else classes


@admin.register(User)
class PersonAdmin(SchoolScoped[User], UserAdmin[User]):
    """Students, teachers and administrators. Rights are given by operators alone, so that nobody raises themselves.

    A role is no such right, but that of an administrator opens all of a school's marks: who has less gives it to nobody.
    """

    form = PersonForm
    school_path = "school"
    list_display = ("username", "last_name", "first_name", "role", "school", "is_active")
    list_filter = ("role", "is_active", "is_staff", ("school", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("school",)
    search_fields = ("username", "first_name", "last_name", "email")
    ordering = ("last_name", "first_name", "username")
    autocomplete_fields = ("school",)
    readonly_fields = ("tokens_valid_after", "last_login", "date_joined")
    actions = ("sign_out_everywhere",)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("School", {"fields": ("role", "school")}),
        (
            "Rights",
            {
                "classes": ("collapse",),
                "fields": ("is_active", *RIGHTS),
            },
        ),
        ("Times", {"fields": ("last_login", "date_joined", "tokens_valid_after")}),
    )
    add_fieldsets = (
        (
            None,
            {
                "classes": ("wide",),
                "fields": (
                    "username",
                    "first_name",
                    "last_name",
                    "usable_password",
                    "password1",
                    "password2",
                ),
            },
        ),
        ("School", {"fields": ("role", "school")}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Show rights, but let only operators change them."""
        return self.readonly_fields if person_of(request).is_operator else (*self.readonly_fields, *RIGHTS)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nobody changes, by a password too, whoever may do more than they."""
        return super().has_change_permission(request, obj) and not outranks(obj, person_of(request))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nobody removes whoever may do more than they."""
        return super().has_delete_permission(request, obj) and not outranks(obj, person_of(request))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Without a school somebody administers the whole system: staff of a school make nobody like that."""
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None and db_field.name == "school" and person_of(request).school_id is not None:
            field.required = True
        return field

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer roles; that of an administrator to those who are one."""
        if db_field.name == "role" and not administers(person_of(request)):
            kwargs["choices"] = [choice for choice in Role.choices if choice[0] != Role.ADMIN]
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    @admin.action(permissions=["change"], description="Sign the selected people out everywhere")
    def sign_out_everywhere(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """End sessions and API tokens of until now, by the database's clock; they can sign in again."""
        chosen = [person.pk for person in people if not outranks(person, person_of(request))]
        number = User.objects.filter(pk__in=chosen).update(tokens_valid_after=Now())
        self.message_user(request, f"Signed out everywhere: {number}.", messages.SUCCESS)


admin.site.unregister(Group)


@admin.register(Group)
class RightsAdmin(GroupAdmin):
    """Groups of rights. They hold for people of all schools, so they are the operators' alone."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Operators see it listed; the sign-in page asks for a stranger too."""
        return bool(getattr(request.user, "is_operator", False))

    def has_view_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Operators look."""
        return person_of(request).is_operator

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Operators add."""
        return person_of(request).is_operator

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Operators change."""
        return person_of(request).is_operator

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Operators delete."""
        return person_of(request).is_operator
