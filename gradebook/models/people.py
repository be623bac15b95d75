"""The one user table for students, teachers and administrators."""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import Q
from django.utils.crypto import salted_hmac
from uuid_utils.compat import uuid7


class Role(models.TextChoices):
    """What a person is in their school; administrators of the whole system have no school."""

    STUDENT = "student"
    TEACHER = "teacher"
    ADMIN = "admin"


class PersonManager(UserManager["User"]):
    """Makes people. A superuser runs the whole system, so it is an administrator and belongs to no school."""

    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **extra: Any
    ) -> "User":
        """Return a new administrator of everything (`manage.py createsuperuser`)."""
        return super().create_superuser(username, email, password, **{"role": Role.ADMIN, **extra})


def name_person(first_name: str, last_name: str, username: str) -> str:
    """Return the name of a person as shown to others: the username where no name was given."""
    return f"{first_name} {last_name}".strip() or username


class User(AbstractUser):
    """A person who signs in. `tokens_valid_after` revokes every API token issued before it, and ends every session.

    The database moves it by itself when an account is switched off, or changes password, role or school.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school = models.ForeignKey("gradebook.School", on_delete=models.PROTECT, null=True, blank=True)
    role = models.CharField(max_length=10, choices=Role, default=Role.STUDENT)
    tokens_valid_after = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[PersonManager] = PersonManager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(role="admin") | Q(school__isnull=False),
                name="students_and_teachers_have_a_school",
                violation_error_message="Students and teachers belong to a school.",
            ),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="users_role_known"),
        ]
        indexes = [models.Index(fields=["tokens_valid_after"], name="users_revoked_idx")]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, and know afterwards what the database has revoked: a page that signs this person in anew names it in the session."""
        adding, named = self._state.adding, kwargs.get("update_fields")
        super().save(*args, **kwargs)
        if not adding and (named is None or "password" in named):
            self.refresh_from_db(fields=["tokens_valid_after"])

    def get_session_auth_hash(self) -> str:
        """Return what a session must name to go on: another one after each revocation, as after a new password."""
        known = super().get_session_auth_hash()
        if self.tokens_valid_after is None:
            return known
        return salted_hmac(known, str(self.tokens_valid_after.timestamp()), algorithm="sha256").hexdigest()

    @property
    def is_operator(self) -> bool:
        """Whether this person runs the whole system: a superuser of one school is an administrator of that school only."""
        return self.is_active and self.is_superuser and self.school_id is None

    @property
    def administered_tenant(self) -> UUID | None:
        """The one school this person is the administrator of, by the log's word for schools; none for operators and everybody else."""
        return self.school_id if self.is_active and self.is_superuser else None

    @property
    def full_name(self) -> str:
        """The name as shown to others; the username where no name was given."""
        return name_person(self.first_name, self.last_name, self.username)
