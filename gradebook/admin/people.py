"""People in the admin: Django's own user pages (passwords are hashed, never shown), with school and role."""

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest

from gradebook.models import User


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    """Students, teachers and administrators."""

    list_display = ("username", "last_name", "first_name", "role", "school", "is_active")
    list_filter = ("role", "is_active", "is_staff", "school")
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
                "fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions"),
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

    @admin.action(description="Make every API token of the selected people invalid")
    def sign_out_everywhere(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """Revoke what was issued until now, by the database's clock; they can sign in again."""
        number = people.update(tokens_valid_after=Now())
        self.message_user(request, f"The tokens of {number} people are not valid any more.", messages.SUCCESS)
