"""The admin's pages of the outbox: everything to be read, nothing to be written."""

from outbox.admin import jobs, log

__all__ = ["jobs", "log"]
