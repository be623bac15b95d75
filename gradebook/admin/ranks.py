"""Who may do more than whom: nobody changes, by a password too, the account of somebody who may do more than they."""

from django.contrib.auth.models import Permission
from django.db.models import Q

from gradebook.models import Role, User


def outranks(person: User | None, other: User) -> bool:
    """Say whether a person may do anything that the other may not, or could once they were switched on."""
    if person is None or other.is_superuser or person.pk == other.pk:
        return False
    if person.is_superuser or (administers(person) and not administers(other)):
        return True
    return person.is_staff and not _list_rights(person) <= _list_rights(other)


def administers(person: User) -> bool:
    """Say whether a person is an administrator, who sees all marks of a school."""
    return person.is_superuser or person.role == Role.ADMIN


def _list_rights(person: User) -> set[int]:
    """Return the permissions of somebody who is no superuser, their own and those of their groups, active or not."""
    held = Q(user=person) | Q(group__user=person)
    return set(Permission.objects.filter(held).values_list("pk", flat=True))
