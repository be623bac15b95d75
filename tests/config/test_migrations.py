"""Machines are upgraded one by one: processes of the version before go on writing once the schema is the new one."""

from collections.abc import Iterator

from django.apps import apps
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import AddField, CreateModel
from django.db.models import NOT_PROVIDED

OURS = {"outbox", "gradebook", "exams", "projections"}
# Came before the first hand-in: there was no version that did not know them.
FROM_THE_BEGINNING = ("0001", "0002", "0003_queue_rules")


def list_columns_added_later() -> Iterator[tuple[str, str, str]]:
    for (app, name), migration in MigrationLoader(None).disk_migrations.items():
        if app in OURS and not name.startswith(FROM_THE_BEGINNING):
            tables_of_its_own = {
                made.name_lower for made in migration.operations if isinstance(made, CreateModel)
            }
            for added in migration.operations:
                if isinstance(added, AddField) and added.model_name_lower not in tables_of_its_own:
                    yield app, added.model_name_lower, added.name


def test_columns_added_later_may_be_left_out_by_who_does_not_know_them() -> None:
    added = {
        place: apps.get_model(*place[:2])._meta.get_field(place[2]) for place in list_columns_added_later()
    }
    assert ("gradebook", "period", "generation") in added
    assert [
        place for place, field in added.items() if not field.null and field.db_default is NOT_PROVIDED
    ] == []
