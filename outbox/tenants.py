"""What tenants are called. The log knows ids only; the app whose rows they are says their names, for the pages where people choose one."""

from collections.abc import Callable, Iterable
from uuid import UUID

Names = Callable[[], Iterable[tuple[UUID, str]]]

_sources: list[Names] = []


def register_tenants(names: Names) -> None:
    """Have these named where people choose a tenant; called anew each time."""
    _sources.append(names)


def list_tenants() -> list[tuple[UUID, str]]:
    """Return id and name of every tenant that can be chosen, by name. A query a source."""
    return sorted(
        (tenant for names in _sources for tenant in names()), key=lambda tenant: tenant[1].casefold()
    )
