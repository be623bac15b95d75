"""What an embedded server must contain before the first migration: two roles and an empty database."""

from importlib.resources import files

import psycopg

from config.postgres.cluster import Cluster
from config.postgres.errors import PostgresError
from config.postgres.place import COMMITS_HERE, DATABASE, SUPERUSER


def ensure_database(cluster: Cluster) -> None:
    """Make the roles and the database that are missing; safe to repeat. Raises PostgresError."""
    try:
        # A new primary has no standby yet, and would wait for one.
        with psycopg.connect(
            cluster.url(SUPERUSER, "postgres"), autocommit=True, options=COMMITS_HERE
        ) as connection:
            connection.execute(_read("create_roles"))
            if connection.execute(_read("find_database"), {"name": DATABASE}).fetchone() is None:
                connection.execute(_read("create_database"))
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise PostgresError(
            f"The database could not be made: {reason}. Its log: {cluster.place.log}"
        ) from error


def _read(name: str) -> bytes:
    return files(__package__).joinpath("sql", f"{name}.sql").read_bytes()
