"""Many rows for a test that looks at plans: written by the database itself, where models would take most of the test's time."""

from django.db import connection
from django.db.models import Model
from django.db.models.expressions import DatabaseDefault
from psycopg import sql


def multiply(row: Model, times: int, **differing: str) -> None:
    """Store so many rows like this one, which itself is not stored; `differing` says columns in SQL, of `number` from 1 on."""
    values: dict[str, sql.Composable] = {
        column: sql.Literal(value) for column, value in _list_values(row).items()
    }
    values |= {column: sql.SQL(expression) for column, expression in differing.items()}
    statement = sql.SQL(
        "INSERT INTO {table} ({columns}) SELECT {values} FROM generate_series(1, {times}) AS number"
    ).format(
        table=sql.Identifier(row._meta.db_table),
        columns=sql.SQL(", ").join(map(sql.Identifier, values)),
        values=sql.SQL(", ").join(values.values()),
        times=times,
    )
    with connection.cursor() as cursor:
        cursor.execute(statement.as_string(cursor.connection))


def _list_values(row: Model) -> dict[str, object]:
    """What a save would store, by column; what the database decides is left to it."""
    values = {
        str(field.column): field.get_db_prep_save(getattr(row, field.attname), connection)
        for field in row._meta.concrete_fields
        if not isinstance(getattr(row, field.attname), DatabaseDefault)
    }
    return {column: value for column, value in values.items() if value is not None}
